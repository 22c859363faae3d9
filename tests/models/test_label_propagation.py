import pytest
import torch
from torch_geometric.data import Data

import ncgnn
from helpers.fitting import fit
from ncgnn.data.graph import make_graph
from ncgnn.errors import InputError
from ncgnn.models.label_propagation import MODEL

EDGES = torch.tensor([[0, 1, 1, 2, 3, 4], [1, 0, 2, 1, 4, 3]])
CANDIDATES = pytest.mark.parametrize("settings", MODEL.candidates(), ids=lambda settings: str(settings.share))


def graph(x: torch.Tensor, y: list[int], train: list[int], val: list[int]) -> Data:
    """Two chains, 0 1 2 and 3 4, and node 5 alone."""
    data = make_graph("small", x, EDGES, torch.tensor(y))
    for key, nodes in (("train", train), ("val", val), ("test", [])):
        mask = torch.zeros(len(y), dtype=torch.bool)
        mask[nodes] = True
        data[f"{key}_mask"] = mask
    return data


@CANDIDATES
def test_labels_follow_edges_and_stop_where_there_are_none(settings):
    data = graph(torch.eye(6), [1, 1, 1, 0, 0, 0], train=[0, 3, 1], val=[4])
    found = fit(MODEL, data, settings).predicted
    assert found.tolist() == [1, 1, 1, 0, 0, 1]  # node 5 has the most frequent training class


@CANDIDATES
def test_labels_that_propagate_do_not_look_at_features_or_other_labels(settings):
    one = graph(torch.eye(6), [1, 1, 1, 0, 0, 0], train=[0, 3], val=[4])
    other = graph(torch.rand(6, 6), [1, 0, 0, 0, 0, 1], train=[0, 3], val=[4])
    assert fit(MODEL, one, settings).predicted.tolist() == fit(MODEL, other, settings).predicted.tolist()


def test_another_graph_of_the_same_size_is_refused():
    data = graph(torch.eye(6), [1, 1, 1, 0, 0, 0], train=[0, 3], val=[1, 4])
    trained = ncgnn.NodeClassifier("label-propagation").fit(data)
    other = data.clone()
    other.node_ids = [str(5 - i) for i in range(6)]
    with pytest.raises(InputError, match="predicts only the graph it was trained on, and this is another"):
        trained.predict(other)
