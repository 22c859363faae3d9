import sys
import warnings

import numpy as np
import pytest
import torch
from sklearn.ensemble import HistGradientBoostingClassifier
from torch_geometric.data import Data

from helpers.fitting import fit
from ncgnn.data import split_stratified, syn_cora
from ncgnn.data.graph import feature_matrix, make_graph
from ncgnn.errors import InputError
from ncgnn.models.boosting import MODEL, MOST_FEATURES, BoostingSettings, reduced, reductions

DEFAULT, FEW = BoostingSettings(), BoostingSettings(trees=30)


def cloud(classes: int) -> Data:
    """Nodes without edges, whose classes of equal size are what a product of features says, so that it takes many
    trees."""
    x = torch.randn(300, 4, generator=torch.Generator().manual_seed(0))
    y = (x[:, 0] * x[:, 1] + x[:, 2].abs()).argsort().argsort() * classes // 300
    return split_stratified(make_graph("cloud", x, torch.zeros(2, 0, dtype=torch.int64), y))


def scikit_learn(data: Data) -> HistGradientBoostingClassifier:
    """The same trees as scikit-learn keeps them."""
    model = HistGradientBoostingClassifier(max_iter=30, min_samples_leaf=5, early_stopping=False, random_state=0)
    train = data.train_mask.numpy()
    return model.fit(data.x.numpy()[train], data.y.numpy()[train])


@pytest.mark.parametrize("classes", [2, 3])
def test_the_trees_give_exactly_the_scores_and_classes_of_scikit_learn(classes):
    data = cloud(classes)
    ours, theirs, x = fit(MODEL, data, FEW), scikit_learn(data), data.x.numpy()
    rounds = len(ours.module.left) // (1 if classes == 2 else classes)
    assert rounds > 1
    expected = [found.reshape(len(x), -1) for found in theirs.staged_decision_function(x)][rounds - 1]
    assert np.array_equal(ours.scores.numpy()[:, -expected.shape[1] :], expected)
    assert ours.predicted.tolist() == list(theirs.staged_predict(x))[rounds - 1].tolist()


def test_of_two_classes_the_first_has_the_score_zero():
    scores = fit(MODEL, cloud(2), FEW).scores
    assert scores.shape == (300, 2)
    assert (scores[:, 0] == 0).all()


def test_the_number_of_trees_is_the_best_on_validation_nodes():
    data = cloud(3)
    ours, val = fit(MODEL, data, FEW), data.val_mask.numpy()
    x, y = data.x.numpy()[val], data.y.numpy()[val]
    right = [np.mean(found == y) for found in scikit_learn(data).staged_predict(x)]
    assert ours.best.val_accuracy == pytest.approx(max(right))
    assert len(ours.module.left) == 3 * (1 + right.index(max(right)))


def test_boosting_does_not_look_at_edges():
    data = split_stratified(syn_cora(0.5, num_nodes=80), seed=1)
    alone = data.clone()
    alone.edge_index = torch.zeros(2, 0, dtype=torch.int64)
    assert (fit(MODEL, data, DEFAULT).predicted == fit(MODEL, alone, DEFAULT).predicted).all()


def test_boosting_learns_what_one_feature_says():
    y = [i % 2 for i in range(60)]
    x = torch.stack([torch.tensor(y, dtype=torch.float32), torch.rand(60)], dim=1)
    data = split_stratified(make_graph("flag", x, torch.zeros(2, 0, dtype=torch.int64), torch.tensor(y)))
    assert fit(MODEL, data, DEFAULT).predicted.tolist() == y


def test_many_features_are_reduced_to_few_in_two_ways():
    data = split_stratified(syn_cora(0.5, num_nodes=200))
    x = feature_matrix(data.x)
    chosen, directions = reductions(x, data.y.numpy(), data.train_mask.numpy(), DEFAULT)
    assert reduced(x, chosen).shape == (200, MOST_FEATURES)
    assert reduced(x, directions).shape[1] < MOST_FEATURES
    for reduction, found in (("columns", chosen), ("directions", directions)):
        settings = BoostingSettings.make({"reduction": reduction})
        (only,) = reductions(x, data.y.numpy(), data.train_mask.numpy(), settings)
        assert np.array_equal(only, found)
    few = x[:, :MOST_FEATURES]
    assert len(list(reductions(few, data.y.numpy(), data.train_mask.numpy(), DEFAULT))) == 1


def test_whoever_takes_the_reduced_features_hears_of_faults_of_their_own():
    data = split_stratified(syn_cora(0.5, num_nodes=80))
    before = (list(warnings.filters), np.geterr())
    for _ in reductions(feature_matrix(data.x), data.y.numpy(), data.train_mask.numpy(), DEFAULT):
        assert (list(warnings.filters), np.geterr()) == before


@pytest.mark.parametrize("unseen", [0, 1, 2])
def test_a_class_without_training_nodes_is_never_predicted(unseen):
    data = cloud(3)
    data.train_mask = data.train_mask & (data.y != unseen)
    scores = fit(MODEL, data, FEW).scores
    assert scores.shape == (300, 3)
    assert set(scores.argmax(dim=1).tolist()) == {0, 1, 2} - {unseen}


def test_any_seed_will_do():
    assert fit(MODEL, cloud(2), BoostingSettings(trees=2, seed=2**40)).scores.isfinite().all()


@pytest.mark.parametrize("classes", [2, 3])
def test_the_trees_give_the_scores_of_lightgbm(classes):
    lightgbm = pytest.importorskip("lightgbm", reason="LightGBM is not installed: pip install '.[lightgbm]'")
    data = cloud(classes)
    ours, train = fit(MODEL, data, BoostingSettings(trees=30, library="lightgbm")), data.train_mask.numpy()
    theirs = lightgbm.LGBMClassifier(n_estimators=30, min_child_samples=5, random_state=0, n_jobs=1, verbose=-1)
    theirs.fit(data.x.numpy()[train].astype(float), data.y.numpy()[train])
    rounds, x = len(ours.module.left) // (1 if classes == 2 else classes), data.x.numpy().astype(float)
    expected = theirs.predict(x, raw_score=True, num_iteration=rounds).reshape(len(x), -1)
    assert np.allclose(ours.scores.numpy()[:, -expected.shape[1] :], expected, rtol=0, atol=1e-12)
    assert np.array_equal(ours.scores.softmax(1).numpy().argmax(1), theirs.predict(x, num_iteration=rounds))
    val, y = data.val_mask.numpy(), data.y.numpy()
    right = [np.mean(theirs.predict(x[val], num_iteration=number) == y[val]) for number in range(1, 31)]
    assert rounds == 1 + right.index(max(right))


def test_without_lightgbm_its_name_is_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(InputError, match=r"library lightgbm is not installed: pip install .*lightgbm"):
        fit(MODEL, cloud(2), BoostingSettings(trees=2, library="lightgbm"))
