import numpy as np
import pytest
import torch

from helpers.random_graphs import random_graph
from ncgnn.sparse import (
    CSR,
    ChebyshevSeries,
    Dense,
    LinearOperator,
    Polynomial,
    dense_rows,
    mean_entries,
    pagerank_series,
    sparse_rows,
)

NODES = 40


def operators() -> dict[str, LinearOperator]:
    a = CSR.from_scipy(random_graph(NODES, 50, 0, weighted=True), torch.float64)
    one_way = CSR.from_scipy(np.triu(a.to_dense().numpy()), torch.float64)
    return {
        "matrix": a,
        "polynomial": Polynomial(a, torch.tensor([0.5, 0.2, 0.0, 0.3])),
        "without the node itself": Polynomial(a, torch.tensor([0.0, 1.0])),
        "negative coefficients": Polynomial(a, torch.tensor([1.0, -0.7, 0.2])),
        "directed": Polynomial(one_way, torch.tensor([0.1, 0.4, 0.5])),
        "PageRank": ChebyshevSeries(a, pagerank_series(0.2, torch.float64)),
        "dense": Dense(torch.rand(NODES, NODES).double()),
    }


@pytest.mark.parametrize("name", operators())
def test_sparse_rows_are_those_of_the_dense_matrix(name):
    operator = operators()[name]
    nodes = torch.tensor([3, 39, 0, 3, 17])
    found = sparse_rows(operator, nodes).to_torch().to_dense()
    torch.testing.assert_close(found, operator.to_dense()[nodes].to(found))
    torch.testing.assert_close(found, dense_rows(operator, nodes).t().to(found))


def test_no_rows_are_no_rows():
    for operator in operators().values():
        assert sparse_rows(operator, torch.tensor([], dtype=torch.int64)).shape == (0, NODES)


def test_rows_hold_what_is_reached_and_nothing_else():
    ring = torch.eye(NODES).roll(1, 0) + torch.eye(NODES).roll(-1, 0)
    two_steps = Polynomial(CSR.from_torch(ring.to_sparse_csr()), torch.tensor([1.0, 1.0, 1.0]))
    row = sparse_rows(two_steps, torch.tensor([10]))
    assert sorted(row.pattern.indices.tolist()) == [8, 9, 10, 11, 12]
    assert mean_entries(two_steps) == 5
