"""What a search tries where links have a direction."""

import numpy as np
import pandas as pd
import pytest

from ncgnn.data import read_graph, split_stratified
from ncgnn.models import PreparedGraph
from ncgnn.models.ncgnn import MODEL

NODES, LINKS, KINDS = 600, 4, 3


@pytest.fixture(scope="module")
def graph() -> PreparedGraph:
    """The class of a node is the most frequent kind of those it pays; those that pay it do not matter."""
    rng = np.random.default_rng(0)
    kind, paid = rng.integers(KINDS, size=NODES), rng.integers(NODES, size=(NODES, LINKS))
    counts = np.eye(KINDS)[kind[paid]].sum(axis=1) + 0.1 * rng.random((NODES, KINDS))
    nodes = pd.DataFrame({"id": np.arange(NODES), "kind": np.array(list("xyz"))[kind]})
    nodes["topic"] = np.array(list("abc"))[counts.argmax(axis=1)]
    edges = pd.DataFrame({"source": np.repeat(np.arange(NODES), LINKS), "target": paid.ravel()})
    data = read_graph(nodes, {"pays": edges}, label="topic", directed=True)
    return PreparedGraph.of_complete(split_stratified(data, 0.5, 0.2))


def test_features_by_direction_learn_what_only_one_direction_says(graph):
    accuracy = {}
    for name, settings in MODEL.portfolio(graph).items():
        brief = settings.model_copy(update={"epochs": 100})
        accuracy[name] = MODEL.fit(MODEL.prepare(graph, brief), graph.data, brief).best.val_accuracy
    best = accuracy.pop("features by direction")
    assert best > max(accuracy.values()) + 0.1


def test_directions_are_tried_only_where_there_are_any(graph):
    data = graph.data.clone()
    del data.edge_tables
    directed = set(MODEL.portfolio(graph)) - set(MODEL.portfolio(PreparedGraph.of_complete(data)))
    assert directed == {"links by direction", "features by direction"}
