import pytest
import torch

from ncgnn.data import load_dataset
from ncgnn.experiments import single
from ncgnn.experiments.cells import Cell
from ncgnn.experiments.protocol import draw_split, hide_test_labels
from ncgnn.experiments.recipes import recipe
from ncgnn.experiments.single import Run, perform


def run(model: str, split: int = 0, seed: int = 0) -> Run:
    cell = Cell("test", "karate", "60/20/20", model)
    return Run(cell, split, seed, recipe(cell).model_copy(update={"epochs": 20}))


@pytest.mark.parametrize("model", ["NCGNN-A", "NCGNN default", "GCN", "MLP"])
def test_the_same_run_gives_the_same_row(model):
    first, again, other = perform(run(model)), perform(run(model)), perform(run(model, seed=1))
    assert first._replace(seconds="") == again._replace(seconds="")
    assert first.key == run(model).key
    assert other.key != first.key


def test_training_sees_no_test_label():
    data = draw_split(single._graph("karate"), run("GCN").cell, 0)
    hidden = hide_test_labels(data)
    assert (hidden.y[data.test_mask] == -1).all()
    assert torch.equal(hidden.y[~data.test_mask], data.y[~data.test_mask])
    assert (data.y >= 0).all()


@pytest.mark.parametrize("model", ["NCGNN-A", "GCN"])
def test_permuting_the_test_labels_changes_no_prediction_and_no_epoch(model, monkeypatch):
    trained = []
    monkeypatch.setattr(single, "_row", lambda run, data, probabilities, best, _: trained.append((probabilities, best)))
    data = draw_split(load_dataset("karate"), run(model).cell, 0)
    for shift in (0, 1):
        changed = data.clone()
        changed.y[data.test_mask] = (data.y[data.test_mask] + shift) % 4
        monkeypatch.setattr(single, "draw_split", lambda *_, changed=changed: changed)
        perform(run(model))
    assert torch.equal(trained[0][0], trained[1][0])
    assert trained[0][1] == trained[1][1]


def test_the_test_accuracy_is_that_of_the_true_labels(monkeypatch):
    right = single._graph("karate").y
    monkeypatch.setattr(single, "_train", lambda data, settings: (torch.eye(4)[right], single.Epoch(3, 0.1, 0.2, 0.5)))
    row = perform(run("GCN"))
    assert (row.test_accuracy, row.val_accuracy, row.epoch, row.roc_auc) == ("1.000000", "0.500000", "3", "")


def test_a_filter_is_prepared_once_for_the_runs_of_a_graph():
    single._filter.cache_clear()
    for seed in range(3):
        perform(run("NCGNN-A", seed=seed))
    assert single._filter.cache_info().misses == 1
