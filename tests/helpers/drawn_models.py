"""Graphs, filters and models drawn at random, for properties that hold for all of them."""

import numpy as np
import torch
from hypothesis import settings
from hypothesis import strategies as st

import ncgnn
from helpers import reference_numpy
from helpers.reference_torch import edge_list

FEATURES, K, PRIMARY, C, CLASS = 4, 3, 4, 3, 5
examples = settings(max_examples=25, deadline=None, derandomize=True, database=None)
seeds = st.integers(0, 2**31 - 1)


@st.composite
def graphs(draw, smallest=3, largest=9, weighted=None):
    """Symmetric adjacencies without self-loops, of any density, isolated nodes included."""
    n = draw(st.integers(smallest, largest))
    upper = np.triu_indices(n, 1)
    present = draw(st.lists(st.booleans(), min_size=len(upper[0]), max_size=len(upper[0])))
    adjacency = np.zeros((n, n))
    adjacency[upper] = present
    if draw(st.booleans()) if weighted is None else weighted:
        adjacency[upper] *= np.random.default_rng(draw(seeds)).uniform(0.1, 3.0, len(upper[0]))
    return adjacency + adjacency.T


@st.composite
def graphs_with_ties(draw):
    """Stars, rings and complete graphs: many entries of a row of Ã^i are equal."""
    n = draw(st.integers(4, 9))
    kind = draw(st.sampled_from(["star", "ring", "complete"]))
    adjacency = np.zeros((n, n))
    if kind == "star":
        adjacency[0, 1:] = 1.0
    elif kind == "ring":
        adjacency = np.roll(np.eye(n), 1, axis=1)
    else:
        adjacency = np.triu(np.ones((n, n)), 1)
    return adjacency + adjacency.T


@st.composite
def attention_filters(draw, sparsify=None, form=None):
    """Any set of hops up to 6, gaps included, with any attention to them."""
    hops = sorted(draw(st.sets(st.integers(0, 6), min_size=1, max_size=4)))
    zeta = np.random.default_rng(draw(seeds)).normal(size=len(hops)).tolist()
    return ncgnn.AttentionFilter(hops=hops, prior=zeta, sparsify=sparsify, form=form).double()


def truncated_diffusions(form=None):
    alphas, times, steps = st.floats(0.05, 0.9), st.floats(0.1, 4.0), st.integers(0, 6)
    ppr = st.builds(lambda alpha, p: ncgnn.DiffusionFilter(alpha=alpha, steps=p, form=form), alphas, steps)
    heat = st.builds(lambda t, p: ncgnn.DiffusionFilter(kind="heat", time=t, steps=p, form=form), times, steps)
    return ppr | heat


def exact_diffusions():
    ppr = st.builds(lambda alpha: ncgnn.DiffusionFilter(alpha=alpha), st.floats(0.05, 0.9))
    return ppr | st.builds(lambda t: ncgnn.DiffusionFilter(kind="heat", time=t), st.floats(0.1, 4.0))


def sparsifications():
    """Top-k, and thresholds among them that rows of rings and complete graphs tie with."""
    limits = st.floats(0.05, 0.4) | st.sampled_from([1 / n for n in range(3, 9)])
    return st.builds(lambda k: ncgnn.TopK(k), st.integers(1, 4)) | st.builds(lambda e: ncgnn.Threshold(e), limits)


@st.composite
def sparsified_filters(draw):
    sparsify = draw(sparsifications())
    if draw(st.booleans()):
        return draw(attention_filters(sparsify=sparsify))
    return ncgnn.DiffusionFilter(alpha=0.2, steps=draw(st.sampled_from([None, 3])), sparsify=sparsify)


def prepare(filt, adjacency, dtype=torch.float64):
    edge_index, edge_weight = edge_list(adjacency)
    return filt.prepare(edge_index, len(adjacency), edge_weight=edge_weight.to(dtype), dtype=dtype)


def dense(filt, adjacency):
    return filt(prepare(filt, adjacency)).to_dense().detach()


def laplacian(adjacency):
    return torch.eye(len(adjacency), dtype=torch.float64) - torch.from_numpy(
        reference_numpy.normalized_adjacency(adjacency)
    )


def random_features(n, seed):
    return torch.randn(n, FEATURES, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def random_model(filt, seed, scale=1.0, **options):
    """Random numbers for all parameters of the capsules; the filter keeps its own."""
    options = {"num_capsules": K, "primary_channels": PRIMARY, "class_channels": CLASS, "dropout": 0.0} | options
    model = ncgnn.NCGNN(FEATURES, C, filt, **options).double()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for module in (model.primary, *model.layers):
            for parameter in module.parameters():
                parameter.copy_(scale * torch.randn(parameter.shape, generator=generator, dtype=torch.float64))
    return model


def assert_close(actual, expected, tolerance):
    torch.testing.assert_close(actual, expected, rtol=0.0, atol=tolerance)
