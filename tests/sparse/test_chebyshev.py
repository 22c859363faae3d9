import numpy as np
import pytest
import torch
from torch.autograd import gradcheck

import ncgnn
from helpers.random_graphs import random_graph
from ncgnn.sparse import CSR, ChebyshevSeries, exact_pagerank, pagerank_series


@pytest.mark.parametrize("alpha", [0.01, 0.1, 0.5, 0.95, 1 - 1e-9])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-13), (torch.float32, 1e-6)])
def test_the_series_is_exact_pagerank_to_rounding(alpha, dtype, tolerance):
    a = random_graph(40, 80, 0, weighted=True)
    series = ChebyshevSeries(CSR.from_scipy(a, dtype), pagerank_series(alpha, dtype))
    np.testing.assert_allclose(series.to_dense().numpy(), exact_pagerank(a, alpha), atol=tolerance)


def test_gradcheck_of_the_series():
    base = CSR.from_scipy(random_graph(8, 12, 1), torch.float64)
    series = ChebyshevSeries(base, pagerank_series(0.2, torch.float64))
    assert gradcheck(lambda p: series @ p, torch.randn(8, 3, dtype=torch.float64, requires_grad=True))


def test_its_coefficients_are_not_learned():
    base = CSR.from_scipy(random_graph(8, 12, 1), torch.float64)
    series = ChebyshevSeries(base, pagerank_series(0.2, torch.float64).requires_grad_())
    with pytest.raises(ValueError, match="not learned"):
        (series @ torch.ones(8, 1, dtype=torch.float64)).sum().backward()


def test_a_directed_graph_takes_the_inverse_and_refuses_the_series():
    edges = torch.tensor([[0, 1], [1, 2]])
    filt = ncgnn.DiffusionFilter(alpha=0.3)
    automatic = filt(filt.prepare(edges, 3, dtype=torch.float64)).to_dense()
    explicit = ncgnn.DiffusionFilter(alpha=0.3, form="explicit")
    torch.testing.assert_close(automatic, explicit(explicit.prepare(edges, 3, dtype=torch.float64)).to_dense())
    with pytest.raises(ValueError, match="directed"):
        ncgnn.DiffusionFilter(alpha=0.3, form="implicit").prepare(edges, 3)


def test_both_forms_of_exact_pagerank_agree():
    edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    forms = [ncgnn.DiffusionFilter(alpha=0.1, form=form) for form in ("implicit", "explicit")]
    implicit, explicit = (f(f.prepare(edges, 4, dtype=torch.float64)).to_dense() for f in forms)
    torch.testing.assert_close(implicit, explicit, atol=1e-13, rtol=0)
