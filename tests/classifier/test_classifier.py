import doctest
import inspect

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from torch_geometric.data import Data, HeteroData
from torch_geometric.utils import coalesce

from ncgnn.classifier import NCGNNClassifier, estimator, ncgnn_classifier
from ncgnn.data import load_dataset, read_graph, split_stratified
from ncgnn.errors import InputError
from ncgnn.models import PreparedGraph, find_model
from ncgnn.models.ncgnn.config import Config


def test_the_constructor_stores_and_does_nothing_else():
    values = {name: object() for name in inspect.signature(NCGNNClassifier).parameters}
    made = NCGNNClassifier(**values)
    assert vars(made) == values


def test_parameters_are_had_set_and_cloned_as_in_scikit_learn(trained, small):
    made = NCGNNClassifier(hops=[0, 2], hidden=((3, 4),), lr=0.5)
    assert made.get_params()["lr"] == 0.5
    assert made.set_params(lr=0.25, filter="diffusion") is made
    assert (made.lr, made.filter) == (0.25, "diffusion")
    copy = clone(made)
    assert copy is not made
    assert copy.get_params() == made.get_params()
    again = clone(trained)
    assert again.get_params() == trained.get_params()
    assert not hasattr(again, "model_")


def test_a_parameter_that_does_not_exist_cannot_be_set():
    with pytest.raises(ValueError, match="Invalid parameter 'learning_rate'"):
        NCGNNClassifier().set_params(learning_rate=1)


def test_a_wrong_parameter_is_told_when_it_is_used(two_rings):
    with pytest.raises(InputError, match=r"^NCGNNClassifier: lr = -1: "):
        NCGNNClassifier(lr=-1).fit(two_rings)


def test_configuration_and_classifier_are_made_from_each_other():
    config = Config(hops=[0, 3], hidden=[(3, 4)], zeta_prior=[1, 2], seed=7)
    assert NCGNNClassifier.from_config(config).config == config
    assert NCGNNClassifier(hops=range(1, 4), hidden=((3, 4),)).config == Config(hops=[1, 2, 3], hidden=[(3, 4)])


@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function", "transform", "score"])
def test_before_training_there_is_nothing_to_predict_with(method, two_rings):
    with pytest.raises(NotFittedError, match=r"has not been trained: call fit\(data\) or load\(path\) first"):
        getattr(NCGNNClassifier(), method)(two_rings)


def test_before_training_there_is_nothing_to_save(tmp_path):
    with pytest.raises(NotFittedError):
        NCGNNClassifier().save(tmp_path / "m.safetensors")
    assert not list(tmp_path.iterdir())


def test_fit_returns_itself_with_what_was_learned(karate, small):
    made = NCGNNClassifier(**small)
    assert made.fit(karate) is made
    assert made.classes_.astype(str).tolist() == karate.class_names
    assert made.feature_names_in_.tolist() == karate.feature_names
    assert made.n_features_in_ == 34
    assert made.config_ == made.config
    assert made.seconds_ > 0
    assert made.best_ in made.history_


def test_scores_shares_classes_and_capsules_belong_together(trained, karate):
    lengths, shares = trained.decision_function(karate), trained.predict_proba(karate)
    capsules, predicted = trained.transform(karate), trained.predict(karate)
    assert (lengths.shape, shares.shape, capsules.shape) == ((34, 4), (34, 4), (34, 4, 4))
    assert predicted.shape == (34,)
    assert (lengths >= 0).all()
    assert (lengths < 1).all()
    np.testing.assert_allclose(np.linalg.norm(capsules, axis=-1), lengths, rtol=1e-5)
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-6)
    np.testing.assert_allclose(shares * lengths.sum(axis=1, keepdims=True), lengths, rtol=1e-5)
    assert (trained.classes_[lengths.argmax(axis=1)] == predicted).all()
    assert len(set(predicted)) > 1


def test_score_is_the_share_of_right_predictions(trained, karate):
    right = trained.predict(karate) == karate.y.numpy()
    assert trained.score(karate) == pytest.approx(right[karate.test_mask.numpy()].mean())
    assert trained.score(karate, karate.train_mask) == pytest.approx(right[karate.train_mask.numpy()].mean())
    assert trained.score(karate, ~karate.test_mask) != trained.score(karate, karate.test_mask)


def test_score_compares_names_not_numbers(trained, karate):
    renumbered = karate.clone()
    renumbered.class_names = karate.class_names[::-1]
    renumbered.y = len(karate.class_names) - 1 - karate.y
    assert trained.score(renumbered) == trained.score(karate)


def test_classes_without_names_are_predicted_as_numbers_like_those_of_y(two_rings, small, tmp_path):
    made = NCGNNClassifier(**small | {"epochs": 40}).fit(two_rings)
    assert made.classes_.tolist() == [0, 1]
    assert made.feature_names_in_.tolist() == ["0", "1", "2", "3", "4"]
    assert (made.predict(two_rings) == two_rings.y.numpy()).mean() == made.score(two_rings, two_rings.y >= 0)
    assert made.score(two_rings, two_rings.train_mask) > 0.9
    assert "class_names" not in two_rings  # the caller's graph stays as it was
    made.save(tmp_path / "m.safetensors")
    assert NCGNNClassifier.load(tmp_path / "m.safetensors").classes_.tolist() == [0, 1]


def test_classes_with_names_are_predicted_by_name(two_rings, small):
    two_rings.class_names = ["left", "right"]
    assert set(NCGNNClassifier(**small | {"epochs": 40}).fit(two_rings).predict(two_rings)) == {"left", "right"}


def test_edges_in_one_direction_only_are_taken_in_both(two_rings, small):
    expected = NCGNNClassifier(**small).fit(two_rings).predict_proba(two_rings)
    both, (source, target) = two_rings.edge_index, two_rings.edge_index
    two_rings.edge_index = both[:, source < target]
    assert np.array_equal(NCGNNClassifier(**small).fit(two_rings).predict_proba(two_rings), expected)
    assert two_rings.edge_index.shape[1] == both.shape[1] // 2  # the caller's graph stays as it was


def test_what_is_not_used_of_a_graph_is_said(two_rings, small):
    two_rings.edge_attr = torch.ones(two_rings.edge_index.shape[1], 3)
    with pytest.warns(UserWarning, match="edge_attr is not used: give weights of edges as edge_weight"):
        NCGNNClassifier(**small).fit(two_rings)


def test_graphs_with_several_kinds_of_nodes_are_refused(small):
    with pytest.raises(InputError, match=r"HeteroData has several kinds of nodes.*data\.to_homogeneous"):
        NCGNNClassifier(**small).fit(HeteroData())
    with pytest.raises(InputError, match="HeteroData has several kinds of nodes"):
        read_graph(HeteroData())


def test_several_labels_per_node_are_refused(two_rings, small):
    two_rings.y = two_rings.y[:, None].repeat(1, 3)
    with pytest.raises(InputError, match="y has 3 columns, but a node has one class, not several: use one column of y"):
        NCGNNClassifier(**small).fit(two_rings)


def test_a_graph_without_labels_can_be_predicted(two_rings, small):
    made = NCGNNClassifier(**small).fit(two_rings)
    bare = Data(x=two_rings.x, edge_index=two_rings.edge_index)
    assert np.array_equal(made.decision_function(bare), made.decision_function(two_rings))


@pytest.mark.parametrize("filter", ["attention", "diffusion"])
def test_isolated_nodes_and_nodes_without_features_work(two_rings, small, filter):
    two_rings.x[3:5] = 0
    two_rings.edge_index = two_rings.edge_index[:, (two_rings.edge_index > 5).all(dim=0)]
    for normalize in (False, True):
        made = NCGNNClassifier(**small, filter=filter, normalize_features=normalize).fit(two_rings)
        assert np.isfinite(made.predict_proba(two_rings)).all()


def test_a_graph_without_edges_works(two_rings, small):
    two_rings.edge_index = torch.empty(2, 0, dtype=torch.long)
    assert np.isfinite(NCGNNClassifier(**small).fit(two_rings).predict_proba(two_rings)).all()


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_features_that_are_not_finite_are_refused_in_fit_and_in_predict(two_rings, small, value):
    made = NCGNNClassifier(**small | {"epochs": 1}).fit(two_rings)
    two_rings.x[4, 2] = value
    for use in (made.fit, made.predict):
        with pytest.raises(InputError, match="x contains NaN or infinity, first at row 4, column 2"):
            use(two_rings)


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.int64])
def test_features_of_other_types_are_taken_as_float32(two_rings, small, dtype, normalize):
    two_rings.x = (two_rings.x * 4).round()
    settings = small | {"epochs": 2, "normalize_features": normalize}
    expected = NCGNNClassifier(**settings).fit(two_rings).decision_function(two_rings)
    two_rings.x = two_rings.x.to(dtype)
    assert np.array_equal(NCGNNClassifier(**settings).fit(two_rings).decision_function(two_rings), expected)


@pytest.mark.parametrize("filter", ["attention", "diffusion"])
def test_dense_and_sparse_features_give_the_same_model(two_rings, small, filter):
    two_rings.x[two_rings.x.abs() < 0.7] = 0
    csr = two_rings.clone()
    csr.x = two_rings.x.to_sparse_csr()
    settings = small | {"epochs": 3, "filter": filter, "dropout": 0.0, "normalize_features": True}
    one, other = (NCGNNClassifier(**settings).fit(data).decision_function(data) for data in (two_rings, csr))
    np.testing.assert_allclose(one, other, atol=1e-4)


@pytest.mark.parametrize("settings", [{}, {"top_k": 3}, {"filter": "diffusion"}, {"filter": "diffusion", "steps": 3}])
def test_another_graph_of_the_same_size_has_its_own_filter(two_rings, small, settings):
    made = NCGNNClassifier(**small | settings).fit(two_rings)
    other = two_rings.clone()
    other.edge_index = torch.stack([torch.arange(20), torch.arange(20).flip(0)])
    before, elsewhere = made.decision_function(two_rings), made.decision_function(other)
    assert not np.allclose(before, elsewhere, atol=1e-4)
    assert np.array_equal(made.decision_function(two_rings), before)
    fresh = NCGNNClassifier(**small | settings).fit(two_rings)
    assert np.array_equal(fresh.decision_function(other), elsewhere)


def test_new_nodes_far_away_change_nothing_for_the_old_ones(two_rings, small):
    made = NCGNNClassifier(**small).fit(two_rings)
    bigger = Data(
        x=torch.cat([two_rings.x, torch.ones(2, 5)]),
        edge_index=torch.cat([two_rings.edge_index, torch.tensor([[20, 21], [21, 20]])], dim=1),
    )
    assert made.predict(bigger).shape == (22,)
    np.testing.assert_allclose(made.decision_function(bigger)[:20], made.decision_function(two_rings), atol=1e-5)


def test_renumbering_the_nodes_renumbers_the_predictions(trained, karate):
    order = torch.randperm(34, generator=torch.Generator().manual_seed(0))
    place = order.argsort()
    moved = Data(x=karate.x.to_dense()[order], edge_index=coalesce(place[karate.edge_index]))
    np.testing.assert_allclose(trained.decision_function(moved), trained.decision_function(karate)[order], atol=1e-5)


def test_edge_weights_count(two_rings, small):
    made = NCGNNClassifier(**small).fit(two_rings)
    weighted = two_rings.clone()
    weighted.edge_weight = torch.ones(two_rings.num_edges)
    np.testing.assert_allclose(made.decision_function(weighted), made.decision_function(two_rings), atol=1e-6)
    weighted.edge_weight[(two_rings.edge_index % 3 == 0).any(dim=0)] = 9.0
    assert not np.allclose(made.decision_function(weighted), made.decision_function(two_rings), atol=1e-3)


def test_parameters_set_after_training_wait_for_the_next_training(two_rings, small, tmp_path):
    made = NCGNNClassifier(**small).fit(two_rings)
    before = made.decision_function(two_rings)
    made.set_params(normalize_features=True, num_capsules=5)
    assert np.array_equal(made.decision_function(two_rings), before)
    made.save(tmp_path / "m.safetensors")
    loaded = NCGNNClassifier.load(tmp_path / "m.safetensors")
    assert np.array_equal(loaded.decision_function(two_rings), before)
    assert made.fit(two_rings).model_.primary.num_capsules == 5


def test_other_features_than_those_learned_are_refused(trained, karate, two_rings):
    with pytest.raises(InputError, match="the model expects 34 features, the graph has 5"):
        trained.predict(two_rings)
    renamed = karate.clone()
    renamed.feature_names = [*karate.feature_names[:3], "age", "town", *karate.feature_names[5:]]
    with pytest.raises(InputError, match="2 differ, the first is feature 3, 'age' in the graph and '3' in the model"):
        trained.predict(renamed)


@pytest.mark.parametrize("key", ["train_mask", "val_mask"])
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda mask: None, "must be a mask over the nodes: create a split"),
        (lambda mask: torch.stack([mask, mask], dim=1), "must be a mask over the nodes"),
        (lambda mask: mask[:-1], "must be a mask over the nodes"),
        (lambda mask: mask.nonzero().flatten(), "must be a mask over the nodes"),
        (lambda mask: mask.long(), "must be a mask over the nodes"),
        (torch.zeros_like, "is empty: it needs at least one node"),
    ],
)
def test_masks_that_are_no_split_are_refused(two_rings, key, wrong, message):
    two_rings[key] = wrong(two_rings[key])
    with pytest.raises(InputError, match=f"^{key} {message}"):
        NCGNNClassifier().fit(two_rings)


def test_masks_must_not_contain_unlabelled_nodes(two_rings, small):
    two_rings.y[9] = -1
    with pytest.raises(InputError, match=r"^val_mask contains nodes without a label"):
        NCGNNClassifier().fit(two_rings)
    two_rings.val_mask[9] = False
    made = NCGNNClassifier(**small | {"epochs": 1}).fit(two_rings)
    assert made.predict(two_rings).shape == (20,)
    with pytest.raises(InputError, match=r"^mask contains nodes without a label"):
        made.score(two_rings, torch.ones(20, dtype=torch.bool))


def test_published_splits_must_be_chosen_first(two_rings):
    two_rings.train_mask = torch.stack([two_rings.train_mask] * 10, dim=1)
    with pytest.raises(InputError, match="select one with published_split"):
        NCGNNClassifier().fit(two_rings)


def test_a_graph_without_labels_cannot_be_learned(two_rings):
    two_rings.y = None
    with pytest.raises(InputError, match="train_mask contains nodes without a label"):
        NCGNNClassifier().fit(two_rings)


def test_training_nodes_of_one_class_are_refused(two_rings):
    two_rings.train_mask &= two_rings.y == 0
    with pytest.raises(InputError, match="fewer than two classes"):
        NCGNNClassifier().fit(two_rings)


def test_there_is_no_score_without_test_nodes(trained, karate):
    bare = karate.clone()
    del bare.test_mask
    with pytest.raises(InputError, match=r"^test_mask must be a mask"):
        trained.score(bare)
    bare.test_mask = torch.zeros(34, dtype=torch.bool)
    with pytest.raises(InputError, match=r"^test_mask is empty"):
        trained.score(bare)


def test_a_filter_that_the_graph_is_too_large_for_is_a_users_mistake():
    x = torch.ones(10_001, 1)
    y = torch.arange(10_001) % 2
    first = torch.arange(10_001) < 5000
    data = Data(x=x, edge_index=torch.tensor([[0, 1], [1, 0]]), y=y, train_mask=first, val_mask=~first)
    with pytest.raises(InputError, match=r"the filter does not suit this graph: exact PageRank .* give steps=P"):
        NCGNNClassifier(filter="diffusion", epsilon=1e-4).fit(data)


def test_memory_is_compared_before_a_filter_is_prepared(two_rings, small, monkeypatch):
    monkeypatch.setattr("ncgnn.memory.available_bytes", lambda: 1e4)
    monkeypatch.setattr(type(find_model("ncgnn")), "prepare", lambda *_: pytest.fail("prepared"))
    with pytest.raises(InputError, match=r"would take .* of memory, and 0 MB are free: make its layers smaller"):
        NCGNNClassifier(**small).fit(two_rings)


def test_edges_to_nodes_that_do_not_exist_are_a_users_mistake(two_rings):
    two_rings.edge_index[0, 0] = 20
    with pytest.raises(InputError, match="edge_index contains node 20, but the graph has 20 nodes"):
        NCGNNClassifier().fit(two_rings)


def test_the_example_in_the_documentation_runs():
    assert load_dataset("karate").num_nodes == 34
    for module in (ncgnn_classifier, estimator):
        failed, run = doctest.testmod(module)
        assert (failed, run) == (0, 4)


def test_nodes_with_two_parts_are_refused(two_rings):
    for other in ("val_mask", "train_mask"):
        wrong = two_rings.clone()
        wrong.test_mask = wrong[other].clone()
        with pytest.raises(InputError, match=f"{other} and test_mask overlap"):
            NCGNNClassifier(epochs=1).fit(wrong)


def test_test_nodes_without_a_label_are_refused(two_rings):
    wrong = two_rings.clone()
    wrong.y = torch.where(wrong.test_mask, -1, wrong.y)
    with pytest.raises(InputError, match="test_mask contains nodes without a label"):
        NCGNNClassifier(epochs=1).fit(wrong)


def test_a_prepared_graph_is_scaled_and_checked_as_any_other(tmp_path):
    """Numbers of a later table are scaled by what the model learned, however the graph is given."""
    for name, shift in (("first", 0), ("later", 50)):
        rows = "".join(f"{i},{i % 7 + shift},{'ab'[i % 2]}\n" for i in range(60))
        (tmp_path / f"{name}.csv").write_text(f"id,size,kind\n{rows}")
    (tmp_path / "edges.csv").write_text("source,target\n" + "".join(f"{i},{(i + 2) % 60}\n" for i in range(60)))
    read = {"id": "id", "label": "kind", "numeric": ["size"]}
    first = split_stratified(read_graph(tmp_path / "first.csv", tmp_path / "edges.csv", **read))
    trained = NCGNNClassifier(epochs=5).fit(first)
    later = read_graph(
        tmp_path / "later.csv", tmp_path / "edges.csv", encoding=trained.encoding_, class_names=["a", "b"]
    )
    later = split_stratified(later)
    given, prepared = trained.decision_function(later), trained.decision_function(PreparedGraph.of(later))
    assert (given == prepared).all()
    with pytest.raises(InputError, match="the model expects 1 features"):
        trained.predict(PreparedGraph.of(load_dataset("karate")))
