import subprocess
import sys

import pytest
import torch
from torch.distributions import Kumaraswamy, RelaxedBernoulli

from helpers.fitting import fit
from helpers.tiny_graph import built, plain, tiny
from ncgnn.errors import InputError
from ncgnn.models import PreparedGraph, Sizes
from ncgnn.models.bbgdc import MODEL, BBGDCSettings, Variational, rows_with_loops
from ncgnn.train.objectives import CrossEntropy
from ncgnn.train.optimiser import adam


def dense(module, a: torch.Tensor, masks: list[list[torch.Tensor]]) -> torch.Tensor:
    """H' = ReLU(sum_b (A * Z_b) H_b W_b + b_b), the last layer linear."""
    h = tiny().x
    for number, layer in enumerate(module.layers):
        parts = (h.relu() if number else h).chunk(len(layer), dim=1)
        blocks = zip(layer, parts, masks[number], strict=True)
        h = sum((a * z) @ part @ block.weight + block.bias for block, part, z in blocks)
    return h


def test_its_prediction_uses_expected_masks():
    module, scores, _ = built(MODEL, {"layers": 3, "width": 4})
    a = plain() + torch.eye(6)
    a = a / a.sum(dim=1, keepdim=True)
    torch.testing.assert_close(rows_with_loops(tiny()).to_dense(), a)
    with torch.no_grad():
        kept = [Kumaraswamy(one, other).mean for one, other in zip(*module.shapes, strict=True)]
        expected = dense(module, a, [[kept[0]], [kept[1]] * 2, [kept[2]] * 2])
    torch.testing.assert_close(scores, expected)


def test_in_training_each_block_has_a_mask_for_each_edge():
    module, scores, settings = built(MODEL, {"layers": 2, "width": 4})
    drawn, inputs = [], MODEL.prepare(PreparedGraph(tiny()), settings)
    usual = module._masked

    def remembered(a, kept):
        drawn.append(usual(a, kept))
        return drawn[-1]

    module._masked = remembered
    with torch.no_grad():
        found = module.train()(*inputs.arguments)
        first, *others = (matrix.to_dense() for matrix in drawn)
        assert len(others) == 2
        assert not torch.equal(*others)
        expected = dense(module, torch.ones(6, 6), [[first], others])
    torch.testing.assert_close(found, expected)
    assert not torch.allclose(found, scores)


def test_masks_follow_the_relaxed_bernoulli_distribution():
    module, _, _ = built(MODEL, {"layers": 2, "width": 4})
    a = rows_with_loops(tiny())
    torch.manual_seed(0)
    found = torch.stack([module.train()._masked(a, torch.tensor(0.3)).values / a.values for _ in range(500)])
    reference = RelaxedBernoulli(torch.tensor(0.67), probs=torch.tensor(0.3)).sample((found.numel(),))
    quantiles = torch.tensor([0.1, 0.25, 0.5, 0.75, 0.9])
    torch.testing.assert_close(found.flatten().quantile(quantiles), reference.quantile(quantiles), atol=0.03, rtol=0)


def test_the_loss_has_a_divergence_and_a_penalty():
    module, _, settings = built(MODEL, {"layers": 2, "width": 4})
    data, inputs = tiny(), MODEL.prepare(PreparedGraph(tiny()), settings)
    optimizer = adam([{"params": list(module.parameters())}], lr=0.1)
    objective = Variational(CrossEntropy(), module.train(), 0.5, optimizer)
    scores = torch.zeros(6, 2)
    module(*inputs.arguments)
    squares = [sum(p.square().sum() for p in layer.parameters()) for layer in module.layers]
    penalty = sum((1 - kept) * square for kept, square in zip(module.kept, squares, strict=True))
    for step in (1, 2):
        expected = torch.log(torch.tensor(2.0)) + step / 20 * module.divergence() + 0.5 * penalty
        torch.testing.assert_close(objective.loss(lambda _: scores, inputs, data), expected)
        for parameter in module.parameters():
            parameter.grad = torch.zeros_like(parameter)
        optimizer.step()  # changes nothing but the number of steps


def test_the_rates_are_learnt(karate):
    found = fit(MODEL, karate, BBGDCSettings.make({"epochs": 150, "layers": 2, "width": 8, "lr": 0.05}))
    assert found.history[-1].train_loss < 0.8 * found.history[0].train_loss
    fresh = MODEL.build(Sizes.of(karate), BBGDCSettings.make({"layers": 2, "width": 8}))
    assert (found.module.expected() - fresh.expected()).abs().min() > 0.01


def test_blocks_that_do_not_divide_the_width_are_refused(karate):
    with pytest.raises(InputError, match="BBGDC: width 7 cannot be divided into 2 blocks"):
        fit(MODEL, karate, BBGDCSettings(width=7))


TRAINING = """
import sys
from resource import RUSAGE_SELF, getrusage

from ncgnn.data import complete, load_dataset, usual_split
from ncgnn.models import PreparedGraph, find_model

model, data = find_model("bbgdc"), usual_split(complete(load_dataset(sys.argv[1])), 0)
graph, settings = PreparedGraph.of_complete(data), model.published(sys.argv[1]).model_copy(update={"epochs": 2})
model.fit(model.prepare(graph, settings), graph.data, settings)
print(getrusage(RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.long
@pytest.mark.usefixtures("benchmark")
@pytest.mark.parametrize("name", ["pubmed", "amazon-computers"])
def test_it_takes_little_memory_where_a_mask_for_each_pair_of_nodes_would_not_fit(name):
    """Two masks with a number for each pair of nodes would take 3.1 and 1.5 GB in each layer, and more in training."""
    done = subprocess.run([sys.executable, "-c", TRAINING, name], capture_output=True, text=True, check=True)
    assert 1024 * int(done.stdout) < 2e9
