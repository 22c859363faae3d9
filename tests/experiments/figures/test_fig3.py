import numpy as np
import pytest

from ncgnn.experiments.figures import fig3, fig3_drawing
from ncgnn.experiments.figures.models import gcn_hidden, load_split, show_gcn, show_ncgnn


def test_what_is_mapped_of_ncgnn_is_the_capsule_of_the_predicted_class(quick):
    data = load_split("karate")
    shown = show_ncgnn(data)
    longest = fig3.longest_capsules(data, shown)
    np.testing.assert_allclose(np.linalg.norm(longest, axis=1), shown.model.decision_function(data).max(axis=1), 1e-5)


def test_the_hidden_features_of_a_gcn_lead_to_its_scores(quick):
    data = load_split("karate")
    shown = show_gcn(data)
    hidden = gcn_hidden(data, shown)
    from ncgnn.sparse import normalized_adjacency

    scores = normalized_adjacency(data.edge_index, 34) @ (hidden @ shown.model.weights[1].detach().numpy())
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
    figure = fig3_drawing.draw(tables)
    assert [axes.get_title().partition(",")[0] for axes in figure.axes] == list(fig3.MODELS)
