import numpy as np
import pytest
import torch

import ncgnn
from helpers.fitting import fit
from helpers.tiny_graph import built, normalised, plain, rows, tiny
from ncgnn.data import complete, split_stratified
from ncgnn.data.graph import make_graph
from ncgnn.errors import InputError
from ncgnn.models.adaedge import MODEL, AdaEdge, AdaEdgeSettings, changed
from ncgnn.models.base.neighbours import plain_adjacency


def two_cliques(noise: int = 30):
    """Two classes with edges within them and some between; features say little."""
    draw = np.random.default_rng(0)
    y = np.arange(80) % 2
    i, j = draw.integers(80, size=(2, 400))
    same = np.flatnonzero((y[i] == y[j]) & (i != j))[:120]
    other = np.flatnonzero(y[i] != y[j])[:noise]
    pairs = torch.from_numpy(np.stack([i, j])[:, np.concatenate([same, other])])
    x = torch.from_numpy(draw.normal(size=(80, 6)) + 1.0 * y[:, None]).float()
    edges = torch.cat([pairs, pairs.flip(0)], dim=1).unique(dim=1)
    return split_stratified(complete(make_graph("cliques", x, edges, torch.from_numpy(y))), 0.2, 0.3)


def test_before_any_change_it_is_a_gcn():
    module, scores, _ = built(MODEL, {"width": 4})
    a, (first, second) = normalised(), module.weights
    with torch.no_grad():
        expected = a @ (a @ rows(tiny().x) @ first).relu() @ second
    torch.testing.assert_close(scores, expected)


def test_only_edges_between_certain_nodes_of_different_classes_go():
    """Nodes 0 to 2 form a triangle, 3 and 4 its tail; only 2 and 3 are certain of different classes."""
    shares = np.array([[0.9, 0.1], [0.6, 0.4], [0.95, 0.05], [0.1, 0.9], [0.45, 0.55], [0.2, 0.8]])
    settings = AdaEdgeSettings.make({"added": 0.0, "removed": 1.0})
    out = changed(plain_adjacency(tiny()), shares, settings, np.random.default_rng(0)).toarray()
    expected = plain().numpy()
    expected[2, 3] = expected[3, 2] = 0
    np.testing.assert_array_equal(out, expected)


def test_edges_are_only_added_between_certain_nodes_of_one_class():
    shares = np.array([[0.9, 0.1], [0.6, 0.4], [0.95, 0.05], [0.1, 0.9], [0.9, 0.1], [0.2, 0.8]])
    settings = AdaEdgeSettings.make({"added": 10.0, "removed": 0.0})
    out = changed(plain_adjacency(tiny()), shares, settings, np.random.default_rng(0)).toarray()
    expected = plain().numpy()
    for i, j in ((0, 4), (2, 4), (3, 5)):  # 0 and 2 have an edge already
        expected[i, j] = expected[j, i] = 1
    np.testing.assert_array_equal(out, expected)


def test_it_keeps_changed_edges_that_help_and_predicts_with_them():
    data = two_cliques()
    settings = AdaEdgeSettings.make({"epochs": 100, "sure": 0.6, "added": 0.5, "removed": 0.5, "seed": 2})
    without = fit(MODEL, data, settings.model_copy(update={"rounds": 0}))
    found = fit(MODEL, data, settings)
    assert isinstance(found.module, AdaEdge)
    assert not without.module.graph.numel()
    assert found.module.graph.numel()
    assert found.best.val_accuracy > without.best.val_accuracy
    on_val = (found.scores.argmax(dim=1) == data.y)[data.val_mask].float().mean()
    assert on_val.item() == pytest.approx(found.best.val_accuracy)


def test_it_refuses_another_graph_once_it_has_edges_of_its_own(tmp_path):
    data = two_cliques()
    values = {"epochs": 100, "sure": 0.6, "added": 0.5, "removed": 0.5, "seed": 2}
    classifier = ncgnn.NodeClassifier("adaedge", values).fit(data)
    classifier.save(tmp_path / "model.safetensors")
    loaded = ncgnn.NodeClassifier.load(tmp_path / "model.safetensors")
    assert (loaded.decision_function(data) == classifier.decision_function(data)).all()
    with pytest.raises(InputError, match="AdaEdge predicts only the graph it was trained on, and this is another"):
        loaded.predict(two_cliques(noise=20))
