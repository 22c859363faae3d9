import numpy as np
import pytest
import torch

from helpers.fitting import fit
from helpers.tiny_graph import built, plain, rows, tiny
from ncgnn.models import PreparedGraph
from ncgnn.models.geom_gcn import MODEL, RELATIONS, GeomGCNSettings, related
from ncgnn.models.geom_gcn.table import neighbourhoods

SMALL = {"width": 2, "embedding": "isomap"}


def dense_relations(table: np.ndarray) -> list[torch.Tensor]:
    """(d_u d_v)^-1/2 for each relation; later rows replace earlier ones, and each node has itself."""
    kind = torch.full((6, 6), -1)
    for node, neighbour, space, relation in table.tolist():
        kind[node, neighbour] = 4 * space + relation
    kind.fill_diagonal_(8)
    degree = (kind >= 0).sum(dim=1).float()
    scale = (degree[:, None] * degree).pow(-0.5)
    return [scale * (kind == relation) for relation in range(RELATIONS)]


def test_the_last_row_about_two_nodes_counts():
    table = np.array([[0, 1, 0, 3], [1, 0, 0, 0], [0, 1, 1, 2], [4, 5, 1, 1]])
    found = [matrix.to_dense() for matrix in related(tiny(), table)]
    for matrix, expected in zip(found, dense_relations(table), strict=True):
        torch.testing.assert_close(matrix, expected)
    assert found[3][0, 1] == 0
    assert found[6][0, 1] > 0


def test_it_concatenates_relations_and_then_takes_their_mean():
    """h = [A_1 X W_1, ..., A_9 X W_9], and Y the mean of A_r ReLU(h) V_r."""
    module, scores, _ = built(MODEL, SMALL)
    matrices = dense_relations(neighbourhoods(tiny(), "isomap"))
    with torch.no_grad():
        x = rows(tiny().x)
        h = torch.cat([a @ x @ w for a, w in zip(matrices, module.first.chunk(9, dim=1), strict=True)], dim=1).relu()
        expected = sum(a @ h @ w for a, w in zip(matrices, module.second.chunk(9, dim=1), strict=True)) / 9
    torch.testing.assert_close(scores, expected)


def test_published_neighbourhoods_are_used_if_their_edges_are_those_of_the_graph():
    data = tiny()
    pairs = np.argwhere(plain().numpy() > 0)
    table = np.column_stack([pairs, np.zeros(len(pairs), int), np.arange(len(pairs)) % 4])
    data.neighbourhoods = {"isomap": table}
    assert np.array_equal(neighbourhoods(data, "isomap"), table)
    data.neighbourhoods = {"isomap": table[1:]}
    assert not np.array_equal(neighbourhoods(data, "isomap")[: len(table) - 1], table[1:])


@pytest.mark.parametrize("variant", MODEL.variants)
def test_it_learns_with_each_embedding(karate, variant):
    settings = GeomGCNSettings.make(MODEL.of_variant(variant) | {"epochs": 40, "width": 8, "dropout": 0.2})
    history = fit(MODEL, karate, settings).history
    assert history[-1].train_loss < 0.8 * history[0].train_loss


def test_relations_are_prepared_once_for_an_embedding(karate):
    graph = PreparedGraph.of(karate)
    first, again, other = (
        MODEL.prepare(graph, GeomGCNSettings.make({"embedding": name})).arguments[1]
        for name in ("isomap", "isomap", "poincare")
    )
    assert first is again
    assert first is not other


def test_its_published_settings():
    assert (MODEL.published("squirrel").width, MODEL.published("squirrel").weight_decay) == (48, 5e-6)
    assert (MODEL.published("texas").width, MODEL.published("texas").weight_decay) == (32, 5e-5)
    assert MODEL.published("pubmed").width == 64
