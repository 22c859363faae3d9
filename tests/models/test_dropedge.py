import torch

from helpers.fitting import fit
from helpers.tiny_graph import built, normalised, plain, rows, symmetric, tiny
from ncgnn.models import PreparedGraph
from ncgnn.models.dropedge import MODEL, DropEdgeSettings


def drawn(rate: float, epoch: int = 1) -> torch.Tensor:
    """The matrix of one training step."""
    inputs = MODEL.prepare(PreparedGraph(tiny()), DropEdgeSettings.make({"dropped": rate}))
    return inputs.sample(epoch).arguments[1].to_dense()


def test_it_is_a_gcn_on_all_edges_when_it_predicts():
    """A ReLU(A X W_1) W_2, without any edge dropped."""
    module, scores, _ = built(MODEL, {"width": 4, "dropped": 0.9})
    a, (first, second) = normalised(), module.weights
    with torch.no_grad():
        expected = a @ (a @ rows(tiny().x) @ first).relu() @ second
    torch.testing.assert_close(scores, expected)


def test_what_is_left_is_normalised_again():
    torch.manual_seed(0)
    found = drawn(0.5)
    kept = (found > 0).float()
    assert torch.equal(kept.diag(), torch.ones(6))
    assert torch.equal(kept * (plain() + torch.eye(6)), kept)
    assert 6 < kept.sum() < 16
    degrees = kept.sum(dim=1)
    torch.testing.assert_close(found, degrees.pow(-0.5)[:, None] * kept * degrees.pow(-0.5))


def test_without_dropped_edges_it_is_the_usual_matrix():
    torch.testing.assert_close(drawn(0.0), symmetric(plain() + torch.eye(6)))


def test_each_epoch_has_other_edges_and_the_rate_holds():
    torch.manual_seed(0)
    matrices = [drawn(0.6) > 0 for _ in range(200)]
    assert any(not torch.equal(matrices[0], other) for other in matrices)
    share = torch.stack(matrices).float().sum(dim=0)[plain() > 0].mean() / 200
    assert abs(share - 0.4) < 0.05


def test_it_learns_the_same_for_the_same_seed(karate):
    settings = DropEdgeSettings.make({"epochs": 40, "dropout": 0.2, "lr": 0.02})
    first, second = fit(MODEL, karate, settings), fit(MODEL, karate, settings)
    assert first.history == second.history
    assert first.history[-1].train_loss < 0.8 * first.history[0].train_loss


def test_its_published_settings():
    assert (MODEL.published("cora").dropped, MODEL.published("citeseer").dropped) == (0.6, 0.8)
    assert MODEL.published("pubmed").lr == 0.003
    assert MODEL.published("cora", 5).layers == 5
