"""Commands that are stopped right before or after each of their renames, by each signal."""

import shutil
import signal
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from helpers.papers import QUICK, contents
from helpers.signalled import renames, run
from ncgnn.together import settled

SIGNALS = [signal.SIGKILL, signal.SIGTERM, signal.SIGINT]
TRAIN = ["train", "karate", "--epochs", 1, *QUICK, "--out", "run"]
NEW = [*TRAIN, "--seed", 2, "--overwrite"]
PREDICT = ["predict", "run", "karate", "--overwrite", "--out"]
EXPLAIN = ["explain", "run", "karate", "--overwrite", "--page"]
TUNE = ["tune", "karate", "--trials", 1, "--confirm", 1, "--splits", 1]
REPRODUCE = ["reproduce", "table6", "--models", "MLP", "--datasets", "syn-cora:0.5"]

pytestmark = [pytest.mark.long, pytest.mark.parametrize("sent", SIGNALS, ids=lambda sent: sent.name)]


@pytest.fixture
def place(tmp_path, here) -> Path:
    """The folder around the working folder."""
    return tmp_path


def hidden(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob(".*")]


def afresh(place: Path, before: Path) -> None:
    shutil.rmtree(place / "here")
    shutil.copytree(before, place / "here")


def stopped(place: Path, command: list[object], sent: int, count: int) -> Iterator[str]:
    """Stop a command in each way, each time from the folder as it is now; says which one it was."""
    before = place / "before"
    shutil.copytree(place / "here", before)
    for number, is_after in product(range(1, count + 1), (False, True)):
        afresh(place, before)
        code, said = run(command, place, number, sent, is_after)
        where = f"rename {number}, {'after' if is_after else 'before'}: {said}"
        assert "Traceback" not in said, where
        if sent == signal.SIGKILL:
            assert code == -sent, where
        else:
            assert code in (0, 128 + sent), where  # 0: all was done
            assert code == 0 or said.splitlines()[-1].startswith("ncgnn: stopped"), where
            assert not hidden(place / "here"), where
        yield where


def test_training_into_an_old_run_leaves_the_old_run_or_the_new_one_whole(place, sent):
    assert run(TRAIN, place)[0] == 0
    shutil.copytree(place / "here", place / "keep")
    old = contents(place / "here")
    count = renames(NEW, place)
    new = contents(place / "here")
    steady = [name for name in old if name.endswith((".csv", ".safetensors"))]  # the others tell times
    assert set(new) == set(old)
    assert count > 10
    assert all(new[name] != old[name] for name in steady)
    afresh(place, place / "keep")
    seen = set()
    for where in stopped(place, NEW, sent, count):
        with settled(place / "here" / "run"):
            found = contents(place / "here")
        assert set(found) == set(old), where
        is_new = b'"--seed"' in (found["run/run.json"] or b"")
        assert all(found[name] == (new if is_new else old)[name] for name in steady), where
        assert is_new or found == old, where
        seen.add(is_new)
    assert seen == {False, True}
    assert run([*PREDICT, "out.csv"], place)[0] == 0


@pytest.mark.parametrize(("command", "file"), [(PREDICT, "out.csv"), (EXPLAIN, "out.html")], ids=["predict", "page"])
def test_a_file_is_the_old_one_or_the_new_one(place, sent, command, file):
    assert run(TRAIN, place)[0] == 0
    count = renames([*command, file], place)
    new = (place / "here" / file).read_bytes()
    (place / "here" / file).write_text("old")
    seen = []
    for where in stopped(place, [*command, file], sent, count):
        assert (place / "here" / file).read_bytes() in (b"old", new), where
        seen.append((place / "here" / file).read_bytes())
        code, said = run([*command, f"next-{file}"], place)
        assert code == 0, f"{where}, then {said}"
        assert not hidden(place / "here"), where
        assert (place / "here" / f"next-{file}").read_bytes() == new
    assert b"old" in seen
    assert new in seen


@pytest.mark.parametrize("command", [TUNE, REPRODUCE], ids=["tune", "reproduce"])
def test_a_search_and_a_reproduction_go_on_where_they_were(place, sent, command, monkeypatch):
    monkeypatch.delenv("NCGNN_DATA", raising=False)
    begun = place / "begun"
    shutil.copytree(place / "here", begun)
    count = renames(command, place)
    names = set(contents(place / "here"))
    assert count > 1
    afresh(place, begun)
    for where in stopped(place, command, sent, count):
        code, said = run(command, place)
        assert code == 0, f"{where}, then {said}"
        assert set(contents(place / "here")) == names, where
        for path in (place / "here").rglob("*.csv"):
            assert path.read_bytes().endswith(b"\n"), where
