"""Settings that train the network that predicts: where dropout is, what decays, which weights are kept."""

from copy import deepcopy

import pytest
import torch

import ncgnn
from ncgnn.models import PreparedGraph
from ncgnn.models.ncgnn import MODEL, Config
from ncgnn.nn import PrimaryCapsules
from ncgnn.sparse import as_operator
from ncgnn.train.inputs import Inputs
from ncgnn.train.loop import class_scores, step, train
from ncgnn.train.reproducible import seeded


@pytest.fixture
def karate():
    return ncgnn.split_per_class(ncgnn.load_dataset("karate"), train=3, val=8)


def capsules(**rates) -> PrimaryCapsules:
    with seeded(0):
        return PrimaryCapsules(6, num_capsules=2, channels=8, **rates)


def test_early_dropout_leaves_unit_vectors():
    x = torch.rand(20, 6)
    early, late = capsules(early_dropout=0.5).train()(x), capsules(dropout=0.5).train()(x)
    length = early.norm(dim=-1)
    torch.testing.assert_close(length[length > 0], torch.ones(int((length > 0).sum())))
    assert (early == 0).sum() > (capsules().train()(x) == 0).sum()
    assert (late.norm(dim=-1) - 1).abs().mean() > 0.1


@pytest.mark.parametrize("layout", [torch.strided, torch.sparse_csr])
def test_dropout_of_features_drops_entries_and_keeps_their_mean(layout):
    x = torch.ones(400, 6)
    x = x.to_sparse_csr() if layout == torch.sparse_csr else x
    module = capsules(feature_dropout=0.25).train()
    with seeded(0):
        thin = module._thinned(as_operator(x))
    dense = thin @ torch.eye(6)
    assert dense.unique().tolist() == pytest.approx([0, 4 / 3])
    assert dense.mean() == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("rates", [{"early_dropout": 0.5}, {"feature_dropout": 0.5}, {"dropout": 0.5}])
def test_nothing_is_dropped_in_prediction(rates):
    x = torch.rand(20, 6)
    assert torch.equal(capsules(**rates).eval()(x), capsules().eval()(x))


def test_weight_decay_of_the_first_weights_alone(karate):
    config = Config.make({"decay": "first", "weight_decay": 0.1})
    module = MODEL.build(sizes(karate), config)
    groups = MODEL.training(module, config).optimizer.param_groups
    decays = {id(parameter): group["weight_decay"] for group in groups for parameter in group["params"]}
    assert {name: decays[id(p)] for name, p in module.named_parameters()} == {
        "primary.weight": 0.1,
        "primary.bias": 0.0,
        "filter.zeta": 0.0,
        "layers.0.weight": 0.0,
        "layers.0.bias": 0.0,
    }


def sizes(data):
    from ncgnn.models import Sizes

    return Sizes.of(PreparedGraph.of(data).data)


def test_the_average_of_the_weights_is_validated_and_kept(karate):
    """By hand: after each step the average moves a tenth of the way to the weights, from the first weights on."""
    config = Config.make({"averaging": 0.9, "epochs": 4, "dropout": 0.0, "patience": 4})
    graph = PreparedGraph.of(karate)
    inputs = Inputs((as_operator(graph.x(False)), graph.filter(config.make_filter())))
    with seeded(0):
        module = MODEL.build(sizes(karate), config)
    by_hand = deepcopy(module)
    how = MODEL.training(by_hand, config)
    average, states = None, []
    for _ in range(4):
        step(by_hand, inputs, karate, how)
        weights = {name: p.detach().clone() for name, p in by_hand.named_parameters()}
        average = weights if average is None else {n: 0.9 * average[n] + 0.1 * weights[n] for n in weights}
        states.append(average)
    trained = train(module, inputs, karate, MODEL.training(module, config))
    kept = dict(module.named_parameters())
    for name, value in states[trained.best.epoch - 1].items():
        torch.testing.assert_close(kept[name].detach(), value)
    accuracy = (class_scores(module, inputs).argmax(dim=1) == karate.y)[karate.val_mask].float().mean()
    assert accuracy == pytest.approx(trained.best.val_accuracy)


def test_new_settings_leave_the_identity_of_old_ones():
    changed = {"early_dropout": 0.5, "feature_dropout": 0.5, "decay": "first", "averaging": 0.9, "self_taught": True}
    assert all(Config.make({key: value}).hash != Config.make({}).hash for key, value in changed.items())
