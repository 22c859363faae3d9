import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.ensemble import HistGradientBoostingClassifier
from torch_geometric.data import Data

import ncgnn
from helpers.fitting import fit
from ncgnn.data import split_stratified, syn_cora
from ncgnn.data.graph import feature_matrix, make_graph
from ncgnn.models import PreparedGraph
from ncgnn.models import boosting as alone
from ncgnn.models.base.neighbours import plain_adjacency
from ncgnn.models.boosting import MOST_FEATURES, BoostingSettings
from ncgnn.models.neighbour_boosting import MODEL, NeighbourSettings, NeighbourTrees, around

FEW = NeighbourSettings(trees=20)


def path_and_hermit() -> tuple[np.ndarray, sp.csr_array]:
    """Nodes 0 - 1 - 2 and the lonely 3, with a feature each."""
    a = sp.csr_array(np.array([[0, 1, 0, 0], [1, 0, 3, 0], [0, 3, 0, 0], [0, 0, 0, 0]], dtype=float))
    return np.array([[1.0], [5.0], [9.0], [2.0]]), a


def random_graph(nodes: int = 300, hermits: int = 60) -> Data:
    """The class is the sign of the neighbours' mean, or of the feature itself where there are none."""
    draw = np.random.default_rng(0)
    x, ends = draw.normal(size=(nodes, 3)).astype(np.float32), draw.integers(0, nodes - hermits, size=(2, 2 * nodes))
    edge_index = torch.from_numpy(np.hstack([ends, ends[::-1]]))
    a = plain_adjacency(Data(edge_index=edge_index, num_nodes=nodes))
    with np.errstate(invalid="ignore"):
        mean = (a @ x[:, 0]) / a.sum(axis=1)
    y = np.where(np.isnan(mean), x[:, 0], mean) > 0
    return split_stratified(make_graph("signs", torch.from_numpy(x), edge_index, torch.from_numpy(y).long()))


def test_columns_are_degree_mean_minimum_and_maximum_of_the_neighbours():
    x, a = path_and_hermit()
    degree, mean, least, most = around(x, a, with_extremes=True)
    assert degree.ravel().tolist() == [1, 4, 3, 0]
    np.testing.assert_array_equal(mean.ravel(), [5, (1 + 3 * 9) / 4, 5, np.nan])
    np.testing.assert_array_equal(least.ravel(), [5, 1, 5, np.nan])
    np.testing.assert_array_equal(most.ravel(), [5, 9, 5, np.nan])


def test_a_graph_without_edges_has_only_degrees_of_zero():
    degree, *others = around(np.ones((3, 2)), sp.csr_array((3, 3)), with_extremes=True)
    assert degree.ravel().tolist() == [0, 0, 0]
    assert all(np.isnan(columns).all() for columns in others)


@pytest.mark.parametrize("are_known", [True, False], ids=["among training nodes", "not among training nodes"])
def test_the_trees_give_exactly_the_scores_of_scikit_learn_also_for_nodes_without_neighbours(are_known):
    """Where training nodes all have neighbours, others follow the larger branch, as in scikit-learn."""
    data = random_graph()
    table = NeighbourTrees.columns(np.arange(3), *MODEL.prepare(PreparedGraph.of(data), FEW).arguments)
    assert table.shape == (300, 3 * 4 + 1)
    lonely = np.isnan(table).any(axis=1)
    data.train_mask = data.train_mask & torch.from_numpy(~lonely | are_known)
    ours, train = fit(MODEL, data, FEW), data.train_mask.numpy()
    assert np.isnan(table[train]).any() == are_known
    theirs = HistGradientBoostingClassifier(max_iter=20, min_samples_leaf=5, early_stopping=False, random_state=0)
    theirs.fit(table[train], data.y.numpy()[train])
    expected = list(theirs.staged_decision_function(table))[len(ours.module.left) - 1].ravel()
    assert np.array_equal(ours.scores.numpy()[:, 1], expected)


@pytest.mark.parametrize("are_known", [True, False], ids=["among training nodes", "not among training nodes"])
def test_the_trees_of_lightgbm_give_its_scores_also_for_nodes_without_neighbours(are_known):
    """Where training nodes all have neighbours, LightGBM takes a missing number for zero."""
    lightgbm = pytest.importorskip("lightgbm", reason="LightGBM is not installed: pip install '.[lightgbm]'")
    data, settings = random_graph(), NeighbourSettings(trees=20, library="lightgbm")
    table = NeighbourTrees.columns(np.arange(3), *MODEL.prepare(PreparedGraph.of(data), settings).arguments)
    lonely = np.isnan(table).any(axis=1)
    data.train_mask = data.train_mask & torch.from_numpy(~lonely | are_known)
    ours, train = fit(MODEL, data, settings), data.train_mask.numpy()
    theirs = lightgbm.LGBMClassifier(n_estimators=20, min_child_samples=5, random_state=0, n_jobs=1, verbose=-1)
    theirs.fit(table[train], data.y.numpy()[train])
    expected = theirs.predict(table, raw_score=True, num_iteration=len(ours.module.left))
    assert np.allclose(ours.scores.numpy()[:, 1], expected, rtol=0, atol=1e-12)


def test_it_learns_what_neighbours_say_and_features_do_not():
    data = random_graph()
    test = data.test_mask.numpy() & (np.arange(300) < 240)
    right = [
        np.mean((fit(model, data, settings).predicted == data.y.numpy())[test])
        for model, settings in ((MODEL, FEW), (alone.MODEL, BoostingSettings(trees=20)))
    ]
    assert right[0] > 0.9
    assert right[1] < 0.7


def test_of_many_features_only_means_are_added():
    data = syn_cora(0.5, num_nodes=80)
    chosen = np.arange(MOST_FEATURES)
    table = NeighbourTrees.columns(chosen, feature_matrix(data.x), plain_adjacency(data))
    assert table.shape == (80, 2 * MOST_FEATURES + 1)


def test_a_saved_model_predicts_the_same_for_nodes_without_neighbours(tmp_path):
    data = random_graph()
    classifier = ncgnn.NodeClassifier("neighbour-boosting", {"trees": 20}).fit(data)
    classifier.save(tmp_path / "model.safetensors")
    loaded = ncgnn.NodeClassifier.load(tmp_path / "model.safetensors")
    assert np.array_equal(loaded.decision_function(data), classifier.decision_function(data))


def test_it_predicts_other_graphs_with_the_same_features():
    data = random_graph()
    classifier = ncgnn.NodeClassifier("neighbour-boosting", {"trees": 20}).fit(data)
    small = data.subgraph(torch.arange(50))
    small.node_ids = data.node_ids[:50]
    assert classifier.predict(small).shape == (50,)


@pytest.mark.parametrize("model", ["boosting", "neighbour-boosting"])
def test_its_settings_have_an_identity_of_their_own(model):
    assert ncgnn.models.find_model(model).settings_class.identity == model
