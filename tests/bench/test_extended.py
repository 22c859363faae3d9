"""How the extended models are chosen: on validation nodes, by rows of present settings, and what is stored of it."""

from pathlib import Path
from statistics import fmean

import pytest
from benchmarks import extended, table
from benchmarks.extended import Task

from ncgnn.experiments.cells import EXTENDED, NCGNN_A, Cell
from ncgnn.experiments.recipes import ITSELF, LINES, Recipe, extended_path, extended_recipe
from ncgnn.models.ncgnn import Config

CANDIDATES = {name: Config.make({"num_capsules": number}) for number, name in enumerate(("one", "two", "three"), 1)}
OTHERS = {"four": Config.make({"num_capsules": 4}), "five": Config.make({"num_capsules": 5})}
MODEL = EXTENDED[NCGNN_A]
ACTOR, TEXAS = (Task(Cell("5", graph, "48/32/20", MODEL)) for graph in ("actor", "texas"))


@pytest.fixture(autouse=True)
def results(tmp_path, monkeypatch) -> Path:
    monkeypatch.setattr(extended, "RESULTS", tmp_path / "validation.csv")
    monkeypatch.setattr(extended, "candidates", lambda task: CANDIDATES)
    monkeypatch.setattr(extended, "extended_path", lambda line, graph: tmp_path / "extended/chosen.toml")
    return tmp_path


def row(name: str, teachers: str, split: int, accuracy: float, config: str = "") -> dict:
    identity = {"graph": "actor", "model": MODEL, "candidate": name, "teachers": teachers, "split": split, "seed": 0}
    return identity | {"config": config or CANDIDATES[name].hash, "val_accuracy": accuracy}


def write(rows: list[dict]) -> str:
    table.write(extended.RESULTS, rows, {})
    extended.write(ACTOR)
    path = extended.RESULTS.parent / "extended/chosen.toml"
    return path.read_text() if path.exists() else ""


def test_the_best_mean_over_all_splits_is_written_and_of_equal_ones_the_simpler(results):
    rows = [row(name, "", split, 0.5) for name in CANDIDATES for split in (0, 1)]
    rows += [row("two", ITSELF, 0, 0.9), row("two", ITSELF, 1, 0.1), row("three", ITSELF, 0, 0.8)]
    text = write(rows)
    assert "teachers = []" in text
    assert "num_capsules = 1" in text
    assert "validation accuracy 0.5000 on 2 splits" in text
    text = write([*rows, row("three", ITSELF, 1, 0.7)])
    assert 'teachers = ["itself"]' in text
    assert "num_capsules = 3" in text
    assert "validation accuracy 0.7500" in text


def test_nothing_is_written_before_teachers_were_tried():
    assert not write([row(name, "", split, 0.5) for name in CANDIDATES for split in (0, 1)])


def test_rows_of_other_settings_do_not_count():
    rows = [row("one", "", split, 0.5) for split in (0, 1)] + [row("one", ITSELF, split, 0.4) for split in (0, 1)]
    text = write([*rows, *(row("two", "", split, 0.9, config="abc") for split in (0, 1))])
    assert "num_capsules = 1" in text


@pytest.mark.parametrize(("task", "runs"), [(ACTOR, [5, 3]), (TEXAS, [5] * 5)])
def test_half_of_the_candidates_are_left_out_after_a_split_unless_few_nodes_judge(monkeypatch, task, runs):
    """Later candidates are the better ones here."""
    monkeypatch.setattr(extended, "candidates", lambda task: CANDIDATES | OTHERS)
    measured: list[tuple[str, tuple[str, ...], int]] = []

    def measure(task, name, teachers, split, seed):
        measured.append((name, tuple(teachers), split))
        found = (CANDIDATES | OTHERS)[name]
        new = row("one", " ".join(teachers), split, found.num_capsules / 10, found.hash)
        table.keep(extended.RESULTS, [new | {"graph": task.cell.graph, "candidate": name}], extended.KEY)

    monkeypatch.setattr(extended, "_measure", measure)
    extended.choose(task)
    alone = [(name, split) for name, teachers, split in measured if not teachers]
    assert [sum(split == number for _, split in alone) for number in range(len(runs))] == runs
    assert {name for name, teachers, _ in measured if teachers} == {"five", "four"}
    assert {teachers for _, teachers, _ in measured if teachers} == set(extended.TEACHERS)


def test_the_choice_sees_no_label_of_a_test_node(benchmark):
    data = extended._prepared(TEXAS.cell, 3).data
    known = data.y >= 0
    assert not known.all()
    assert (known == (data.train_mask | data.val_mask)).all()


def test_every_stored_choice_was_measured_on_all_of_its_splits(monkeypatch):
    monkeypatch.undo()
    rows = table.read(extended.RESULTS)
    for task in extended.tasks():
        found = extended_recipe(LINES[task.cell.model], task.cell.graph)
        if found is None:
            continue
        own = [one for one in rows if is_of(one, task, found)]
        assert {(one["split"], one["seed"]) for one in own} == set(task.runs), task
        mean = fmean(one["val_accuracy"] for one in own)
        assert f"validation accuracy {mean:.4f}" in extended_path(task.line, task.cell.graph).read_text(), task


def is_of(row: dict, task: Task, found: Recipe) -> bool:
    teachers = [ITSELF if one.hash == found.settings.hash else one.model for one in found.teachers]
    same = row["teachers"].split() == teachers and str(row["config"]) == found.settings.hash
    return same and (row["graph"], row["model"]) == (task.cell.graph, task.cell.model)
