"""Every kind of filter, in the library and in the references, and a small graph to compare them on."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
import scipy.stats
import torch

import ncgnn
from helpers import reference_numpy, reference_torch

TOLERANCE = {torch.float64: 1e-9, torch.float32: 1e-4}
DTYPES = pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=["float64", "float32"])
NODES, FEATURES, K, PRIMARY, C, CLASS = 9, 5, 3, 4, 3, 5
ISOLATED = 8
EDGES = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7), (4, 7), (3, 7), (0, 5)]


class Case(NamedTuple):
    """A filter of the library and the same filter in a reference module, as a function of A and zeta."""

    build: Callable
    reference: Callable
    hop_weights: Callable  # ξ as a function of zeta; None for an infinite sum
    num_hops: int = 0  # the length of zeta


def attention(hops, sparsify=None, form=None):
    return Case(
        lambda: ncgnn.AttentionFilter(hops=hops, sparsify=library_sparsify(sparsify), form=form),
        lambda module, adjacency, zeta: module.attention_filter(adjacency, hops, zeta, sparsify),
        reference_numpy.hop_weights,
        len(hops),
    )


def ppr(alpha, steps=None, sparsify=None, form=None):
    return Case(
        lambda: ncgnn.DiffusionFilter(alpha=alpha, steps=steps, sparsify=library_sparsify(sparsify), form=form),
        lambda module, adjacency, zeta: module.ppr_filter(adjacency, alpha, steps, sparsify),
        lambda zeta: None if steps is None else np.array([alpha * (1 - alpha) ** i for i in range(steps + 1)]),
    )


def heat(time, steps=None, sparsify=None, form=None):
    return Case(
        lambda: ncgnn.DiffusionFilter(
            kind="heat", time=time, steps=steps, sparsify=library_sparsify(sparsify), form=form
        ),
        lambda module, adjacency, zeta: module.heat_filter(adjacency, time, steps, sparsify),
        lambda zeta: None if steps is None else scipy.stats.poisson.pmf(range(steps + 1), time),
    )


def library_sparsify(sparsify):
    if sparsify is None:
        return None
    kind, value = sparsify
    return ncgnn.TopK(value) if kind == "top-k" else ncgnn.Threshold(value)


CASES = {
    "attention": attention(range(4)),
    "attention implicit": attention(range(4), form="implicit"),
    "attention explicit": attention(range(4), form="explicit"),
    "attention implicit, hops with gaps": attention((1, 2, 5), form="implicit"),
    "attention explicit, hops with gaps": attention((1, 2, 5), form="explicit"),
    "attention, hops out of order": attention((4, 0, 2)),
    "attention, one hop": attention((1,)),
    "attention top-k": attention(range(4), ("top-k", 3)),
    "attention top-k, k above N": attention(range(3), ("top-k", 50)),
    "attention threshold": attention(range(4), ("threshold", 0.15)),
    "attention threshold, empty rows": attention((1, 2, 3), ("threshold", 0.4)),
    "ppr": ppr(0.1),
    "ppr top-k": ppr(0.2, sparsify=("top-k", 3)),
    "ppr truncated": ppr(0.15, steps=4),
    "ppr truncated implicit": ppr(0.15, steps=4, form="implicit"),
    "ppr truncated explicit": ppr(0.15, steps=4, form="explicit"),
    "ppr truncated threshold": ppr(0.15, steps=4, sparsify=("threshold", 0.08)),
    "ppr truncated, no steps": ppr(0.3, steps=0),
    "heat": heat(2.0),
    "heat threshold": heat(3.0, sparsify=("threshold", 0.12)),
    "heat truncated": heat(2.0, steps=3),
    "heat truncated implicit": heat(2.0, steps=3, form="implicit"),
    "heat truncated explicit": heat(2.0, steps=3, form="explicit"),
    "heat truncated top-k": heat(1.0, steps=6, sparsify=("top-k", 4)),
}
FILTERS = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
SOME_FILTERS = {name: CASES[name] for name in ("attention", "attention top-k", "attention threshold", "ppr", "heat")}


def graph(weighted):
    """Nine nodes, one of them isolated."""
    weights = np.random.default_rng(7).uniform(0.2, 2.0, len(EDGES)).astype(np.float32)
    adjacency = np.zeros((NODES, NODES))
    for (i, j), weight in zip(EDGES, weights, strict=True):
        adjacency[i, j] = adjacency[j, i] = weight if weighted else 1.0
    return adjacency


def features():
    """Bag-of-words like features, without any word for an isolated and for a connected node."""
    generator = torch.Generator().manual_seed(3)
    x = torch.rand(NODES, FEATURES, generator=generator) * (torch.rand(NODES, FEATURES, generator=generator) < 0.7)
    x[[2, ISOLATED]] = 0.0
    return x.double()


def as_numpy(value):
    """Tensors inside tuples and lists as arrays."""
    if isinstance(value, tuple | list):
        return [as_numpy(item) for item in value]
    return value.detach().double().numpy() if isinstance(value, torch.Tensor) else value


def prepare(filt, adjacency, dtype):
    edge_index, edge_weight = reference_torch.edge_list(adjacency)
    weight = None if bool((edge_weight == 1).all()) else edge_weight.to(dtype)
    return filt.prepare(edge_index, len(adjacency), edge_weight=weight, dtype=dtype)


def assert_agree(actual, expected, tolerance, what):
    actual, expected = as_numpy(actual), as_numpy(expected)
    assert actual.shape == expected.shape, what
    error = np.abs(actual - expected).max() / max(1.0, np.abs(expected).max())
    assert error <= tolerance, f"{what} differs from the reference by {error:.3g}"
