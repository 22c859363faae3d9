import numpy as np
import pytest

from ncgnn.experiments.figures import fig3
from ncgnn.experiments.figures.models import load_split, show
from ncgnn.sparse import normalized_adjacency
from ncgnn.train.loop import class_scores


def test_what_is_mapped_of_ncgnn_is_the_capsule_of_the_predicted_class(quick):
    shown = show(load_split("karate"), "NCGNN-A")
    lengths = class_scores(shown.module, shown.inputs).numpy()
    np.testing.assert_allclose(np.linalg.norm(shown.hidden(), axis=1), lengths.max(axis=1), 1e-5)


def test_the_hidden_features_of_a_gcn_lead_to_its_scores(quick):
    data = load_split("karate")
    shown = show(data, "GCN")
    scores = normalized_adjacency(data.edge_index, 34) @ (shown.hidden() @ shown.module.weights[1].detach().numpy())
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(shares, shown.probabilities, atol=1e-5)


def test_nodes_in_groups_of_their_class_are_all_alike():
    places, labels = np.repeat([[0.0], [10.0]], 6, axis=0), np.repeat([0, 1], 6)
    assert fig3.alike(places, labels, nearest=5) == 1
    assert fig3.alike(places, np.tile([0, 1], 6), nearest=5) == pytest.approx(0.4)
    assert fig3.alike(places, np.where(labels == 0, -1, labels), nearest=5) == 1


def test_three_maps_are_measured_and_drawn(quick):
    tables = fig3.measure(lambda: None, "karate")
    assert set(fig3.COLUMNS["points"]) <= set(tables["points"])
    assert len(tables["points"]) == 34
    assert tables["runs"]["model"].tolist() == list(fig3.MODELS)
    again = fig3.measure(lambda: None, "karate")
    assert again["points"].equals(tables["points"])
    figure = fig3.draw(tables)
    assert [axes.get_title().partition(",")[0] for axes in figure.axes] == list(fig3.MODELS)
