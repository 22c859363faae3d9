import torch

import ncgnn
from helpers.small_search import karate_with_splits
from ncgnn.data import complete
from ncgnn.experiments.ablation import OverClasses, OverClassesSettings, WithCrossEntropy
from ncgnn.models import PreparedGraph, Sizes
from ncgnn.models.ncgnn import MODEL, Config

SMALL = {"hops": [0, 1], "num_capsules": 2, "primary_channels": 8, "class_channels": 4, "iterations": 2, "epochs": 3}


def test_couplings_over_classes_sum_to_one_over_the_classes():
    data = complete(ncgnn.load_dataset("karate"))
    model, settings = OverClasses(), OverClassesSettings.make(SMALL)
    torch.manual_seed(0)
    module = model.build(Sizes.of(data), settings)
    inputs = model.prepare(PreparedGraph(data), settings)
    _, routing = model.scores(module, inputs)
    assert routing is not None
    couplings = routing.couplings
    torch.testing.assert_close(couplings.sum(dim=2), torch.ones(34, 2))
    assert couplings.std() > 1e-4  # they did not stay uniform


def test_with_one_iteration_couplings_over_classes_are_a_scale_of_the_papers():
    """Both are uniform then: 1/C instead of 1/K."""
    data = complete(ncgnn.load_dataset("karate"))
    once = SMALL | {"iterations": 1, "num_capsules": 4}
    torch.manual_seed(0)
    paper = MODEL.build(Sizes.of(data), Config.make(once))
    other = OverClasses().build(Sizes.of(data), OverClassesSettings.make(once))
    other.load_state_dict(paper.state_dict())
    inputs = MODEL.prepare(PreparedGraph(data), Config.make(once))
    torch.testing.assert_close(OverClasses().scores(other, inputs)[0], MODEL.scores(paper, inputs)[0])  # K = C = 4


def test_cross_entropy_is_what_is_minimised():
    data = karate_with_splits()
    model, settings = WithCrossEntropy(), WithCrossEntropy.settings_class.make(SMALL)
    how = model.training(model.build(Sizes.of(data), settings), settings)
    scores, y = torch.tensor([[0.9, 0.1]]), torch.tensor([0])
    expected = -torch.log_softmax(10 * scores, dim=1)[0, 0]
    torch.testing.assert_close(how.objective.of(scores, y), expected)
