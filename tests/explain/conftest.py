import os

import pytest
import torch
from torch_geometric.data import Data

import ncgnn
from helpers.small_models import FILTERS, SMALL, small_model
from ncgnn.classifier import NCGNNClassifier
from ncgnn.data import load_dataset, split_per_class, syn_cora, usual_split
from ncgnn.explain import Trace, trace_model, trace_scored
from ncgnn.explain.presence import Subject


@pytest.fixture(scope="session")
def karate() -> Data:
    return split_per_class(load_dataset("karate"), train=3, val=8)


@pytest.fixture(scope="session")
def club(karate) -> NCGNNClassifier:
    """A model of the karate club; not to be changed."""
    return NCGNNClassifier(**SMALL, hops=2, epochs=15).fit(karate)


@pytest.fixture(scope="session")
def trained():
    """A trained model's forward pass on a graph, by the names of graph and filter."""
    known: dict[tuple[str, str], Trace] = {}

    def trace(graph: str, filter: str) -> Trace:
        if (graph, filter) not in known:
            data = graph_of(graph)
            classifier = NCGNNClassifier(**SMALL, **FILTERS[filter], epochs=5).fit(data)
            known[graph, filter] = trace_scored(classifier.scored(data))
        return known[graph, filter]

    return trace


def graph_of(name: str) -> Data:
    if name == "karate":
        return split_per_class(load_dataset("karate"), train=3, val=8)
    if name == "syn-cora":
        return usual_split(syn_cora(0.5))
    if not os.environ.get("NCGNN_DATA"):
        pytest.skip("set NCGNN_DATA to the folder of benchmark graphs")
    return usual_split(load_dataset(name))


@pytest.fixture
def edges() -> torch.Tensor:
    """Five nodes: a triangle with a tail of two."""
    there = torch.tensor([[0, 1, 2, 2, 3], [1, 2, 0, 3, 4]])
    return torch.cat([there, there.flip(0)], dim=1)


@pytest.fixture
def subject(edges) -> Subject:
    """A small model on five nodes, with two classes."""
    model = small_model(ncgnn.AttentionFilter([0, 1, 2]))
    x = torch.rand(5, 6, generator=torch.Generator().manual_seed(1))
    return Subject(trace_model(model, x, model.filter.prepare(edges, 5)), edges)
