from dataclasses import replace

import pytest
import torch

from ncgnn.data import load_dataset
from ncgnn.data.splits import hide_test_labels
from ncgnn.errors import InputError
from ncgnn.experiments import one_run
from ncgnn.experiments.cells import Cell
from ncgnn.experiments.one_run import Failure, Run, perform
from ncgnn.experiments.protocol import draw_split, graph, version_at_hand
from ncgnn.experiments.recipes import LINES, Recipe, recipe
from ncgnn.models.ncgnn import Config
from ncgnn.train import Epoch

CLUB = version_at_hand("karate")


def run(model: str, split: int = 0, seed: int = 0) -> Run:
    cell = Cell("test", "karate", "60/20/20", model)
    found = recipe(cell) or Recipe("ncgnn", Config.make({"filter": LINES[model].variant}))  # there is no preset
    return Run(cell, split, seed, changed(found, epochs=20), CLUB)


def with_teachers() -> Run:
    """A run of a model that learns from itself and from a GCN."""
    own, gcn = run("NCGNN-A"), run("GCN")
    return replace(own, recipe=replace(own.recipe, teachers=(own.recipe, gcn.recipe)))


def changed(found: Recipe, **values: object) -> Recipe:
    return replace(found, settings=found.settings.model_copy(update=values))


@pytest.fixture
def trained(monkeypatch) -> list[tuple]:
    """Probabilities and best epoch of each run that is performed."""
    found = []
    monkeypatch.setattr(one_run, "_row", lambda run, data, probabilities, best, *_: found.append((probabilities, best)))
    return found


@pytest.mark.parametrize("model", ["NCGNN-A", "NCGNN default", "GCN", "MLP"])
def test_the_same_run_gives_the_same_row(model):
    first, again = perform(run(model)), perform(run(model))
    assert first._replace(seconds="", date="") == again._replace(seconds="", date="")
    assert first.key == run(model).key


@pytest.mark.parametrize("model", ["NCGNN-A", "GCN", "MLP"])
def test_another_seed_and_another_split_are_other_runs(model, trained):
    for one in (run(model), run(model, seed=1), run(model, split=1)):
        perform(one)
    first, other_seed, other_split = (probabilities for probabilities, _ in trained)
    assert not torch.equal(first, other_seed)
    assert not torch.equal(first, other_split)


def test_a_run_is_known_by_all_that_decides_it():
    first = run("GCN")
    other_recipe = Run(first.cell, 0, 0, changed(first.recipe, lr=0.5), CLUB)
    other_graph = Run(first.cell, 0, 0, first.recipe, "0123456789ab")
    others = (run("MLP"), run("GCN", split=1), run("GCN", seed=1), other_recipe, other_graph)
    assert len({one.key for one in (first, *others)}) == 6


def test_training_sees_no_test_label():
    data = draw_split(graph("karate"), run("GCN").cell, 0)
    hidden = hide_test_labels(data)
    assert (hidden.y[data.test_mask] == -1).all()
    assert torch.equal(hidden.y[~data.test_mask], data.y[~data.test_mask])
    assert (data.y >= 0).all()


def test_a_run_with_teachers_is_another_run_and_predicts_otherwise(trained):
    alone, taught = run("NCGNN-A"), with_teachers()
    assert alone.key != taught.key
    for one in (alone, taught, taught):
        perform(one)
    (before, _), (after, _), (again, _) = trained
    assert not torch.equal(before, after)
    assert torch.equal(after, again)


def test_teachers_see_no_test_label_either(trained, monkeypatch):
    planned = with_teachers()
    data = draw_split(load_dataset("karate"), planned.cell, 0)
    for shift in (0, 1):
        changed = data.clone()
        changed.y[data.test_mask] = (data.y[data.test_mask] + shift) % 4
        monkeypatch.setattr(one_run, "draw_split", lambda *_, changed=changed: changed)
        perform(planned)
    assert torch.equal(trained[0][0], trained[1][0])


@pytest.mark.parametrize("model", ["NCGNN-A", "GCN", "MLP"])
@pytest.mark.parametrize("split", [0, 1])
def test_permuting_the_test_labels_changes_no_prediction_and_no_epoch(model, split, trained, monkeypatch):
    data = draw_split(load_dataset("karate"), run(model).cell, split)
    for shift in (0, 1):
        changed = data.clone()
        changed.y[data.test_mask] = (data.y[data.test_mask] + shift) % 4
        monkeypatch.setattr(one_run, "draw_split", lambda *_, changed=changed: changed)
        perform(run(model, split))
    assert torch.equal(trained[0][0], trained[1][0])
    assert trained[0][1] == trained[1][1]


def test_the_test_accuracy_is_that_of_the_true_labels(monkeypatch):
    found = torch.eye(4)[graph("karate").y], Epoch(3, 0.1, 0.2, 0.5)
    monkeypatch.setattr(one_run, "train_recipe", lambda graph, recipe, seed: found)
    row = perform(run("GCN"))
    assert (row.test_accuracy, row.val_accuracy, row.epoch, row.roc_auc) == ("1.000000", "0.500000", "3", "")


def test_a_run_that_diverges_says_so_and_a_mistake_of_ours_is_no_result(monkeypatch):
    def diverge(graph, recipe, seed):
        raise InputError("training diverged")

    monkeypatch.setattr(one_run, "train_recipe", diverge)
    failure = perform(run("GCN", split=3, seed=2))
    assert str(failure) == "karate, 60/20/20, GCN, split 3, seed 2: training diverged"
    monkeypatch.setattr(one_run, "train_recipe", lambda graph, recipe, seed: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        perform(run("GCN"))


def test_a_run_planned_for_another_graph_is_refused():
    planned = run("GCN")
    failure = perform(Run(planned.cell, 0, 0, planned.recipe, "0123456789ab"))
    assert isinstance(failure, Failure)
    assert f"has version {CLUB}, not 0123456789ab" in failure.reason


def without_edges(data):
    data.edge_index = data.edge_index[:, :0]


def with_other_features(data):
    data.x = data.x.to_dense().flip(0)


@pytest.mark.parametrize("change", [without_edges, with_other_features])
@pytest.mark.parametrize("model", ["NCGNN-A", "NCGNN-D", "GCN"])
def test_a_result_changes_with_the_graph_under_the_same_name(model, change, trained, monkeypatch):
    perform(run(model))

    def other(*arguments):
        data = draw_split(*arguments).clone()
        change(data)
        return data

    monkeypatch.setattr(one_run, "draw_split", other)
    perform(run(model))
    (before, _), (after, _) = trained
    assert not torch.equal(before, after)


def test_a_sparsified_filter_is_taken_from_the_disk_by_the_next_process(monkeypatch):
    planned = replace(run("NCGNN-A"), recipe=changed(run("NCGNN-A").recipe, top_k=3, epochs=2))
    first = perform(planned)
    assert isinstance(planned.recipe.settings, Config)
    kind = type(planned.recipe.settings.make_filter())
    monkeypatch.setattr(kind, "prepare", lambda *_: pytest.fail("prepared a second time"))
    assert perform(planned)._replace(seconds="", date="") == first._replace(seconds="", date="")
