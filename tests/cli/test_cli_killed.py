"""Commands that are stopped right before or after each of their renames, by each signal."""

import os
import shutil
import signal
from itertools import product
from pathlib import Path

import pytest

from helpers.papers import QUICK, contents
from helpers.signalled import SIGNALS, renames, run
from helpers.stand_in_models import stand_in
from ncgnn.compare import rivals
from ncgnn.files import atomic
from ncgnn.scored import Scored

TRAIN = ["train", "karate", "--epochs", 1, *QUICK, "--out", "run", "--picture", "--compare"]
NEW = [*TRAIN, "--seed", 2, "--overwrite"]
PREDICT = ["predict", "run", "karate", "--out", "out.csv", "--overwrite"]
EXPLAIN = ["explain", "run", "karate", "--page", "out.html", "--overwrite"]
TUNE = ["tune", "karate", "--trials", 2, "--confirm", 1, "--splits", 1, "--overwrite"]
REPRODUCE = ["reproduce", "table6", "--models", "MLP", "--datasets", "syn-cora:0.5"]

pytestmark = pytest.mark.long


@pytest.fixture
def quick(monkeypatch):
    """A picture and simpler models that take no time."""

    def draw(folder: Path, scored: Scored) -> None:
        with atomic(folder / "capsules.png") as file:
            file.write("a picture")

    known = [stand_in(rival.title, rival.knows, lambda data: data.y) for rival in rivals("ncgnn")]
    monkeypatch.setattr("ncgnn.compare.rivals", lambda own: known)
    monkeypatch.setattr("ncgnn.cli.run._draw", draw)


@pytest.fixture
def place(quick, tmp_path, here) -> Path:
    """The folder around the working folder; the working folder holds a run."""
    assert run(TRAIN, tmp_path)[0] == 0
    return tmp_path


def afresh(place: Path, before: Path) -> None:
    shutil.rmtree(place / "here")
    shutil.copytree(before, place / "here", symlinks=True)


def hidden(found: dict[str, bytes | None]) -> list[str]:
    return [name for name in found if any(part.startswith(".") for part in name.split("/"))]


def stopped(place: Path, command: list[object], settle: list[object], count: int):
    """What the folder holds after each way to stop a command, and after the next start."""
    before = place / "before"
    shutil.copytree(place / "here", before)
    for number, sent, is_after in product(range(1, count + 1), SIGNALS, (False, True)):
        afresh(place, before)
        code, said = run(command, place, number, sent, is_after)
        where = f"rename {number}, signal {sent}, {'after' if is_after else 'before'}: {said}"
        assert "Traceback" not in said, where
        if sent == signal.SIGKILL:
            assert code == -sent, where
        else:
            assert code in (0, 128 + sent), where  # 0: it came when all was done
            assert not hidden(contents(place / "here")), where
        code, said = run(settle, place)
        assert code == 0, f"{where}, then {said}"
        found = contents(place / "here")
        assert not hidden(found), where
        yield where, found


def files(found: dict[str, bytes | None], *, of: str) -> dict[str, bytes | None]:
    return {name: content for name, content in found.items() if name.startswith(of)}


def stable(found: dict[str, bytes | None]) -> dict[str, bytes | None]:
    """Without what differs between two runs of one command: their times."""
    return {name: content for name, content in found.items() if not name.endswith(("run.json", "report.md"))}


def test_training_into_an_old_run_that_is_stopped_leaves_the_old_run_or_the_new_one_whole(place):
    old = files(contents(place / "here"), of="run/")
    keep = place / "keep"
    shutil.copytree(place / "here", keep)
    count = renames(NEW, place)
    new = files(contents(place / "here"), of="run/")
    assert count > 10
    assert set(new) == set(old)
    assert all(new[name] != old[name] for name in stable(new) if not name.endswith(".png"))
    afresh(place, keep)
    seen = set()
    for where, found in stopped(place, NEW, ["predict", "run", "karate"], count):
        now = files(found, of="run/")
        is_new = b'"--seed"' in (now["run/run.json"] or b"")
        expected = stable(new if is_new else old)
        # picture and comparison follow when the model is safe
        later = {"run/capsules.png"} if is_new else set()
        assert {n: c for n, c in stable(now).items() if n not in later} == {
            n: c for n, c in expected.items() if n not in later
        }, where
        assert set(now) | later == set(new) | later
        seen.add(is_new)
    assert seen == {False, True}


@pytest.mark.parametrize(
    ("command", "file"), [(PREDICT, "out.csv"), (EXPLAIN, "out.html")], ids=["predict", "explain --page"]
)
def test_a_file_that_is_written_by_a_stopped_command_is_the_old_one_or_the_new_one(place, command, file):
    (place / "here" / file).write_text("old")
    keep = place / "keep"
    shutil.copytree(place / "here", keep)
    count = renames(command, place)
    new = contents(place / "here")
    afresh(place, keep)
    seen = set()
    other = [*command[:-2], f"other-{file}"]  # the next start, in the same folder
    for where, found in stopped(place, command, other, count):
        assert found.pop(f"other-{file}") == new[file]
        assert found == new | {file: found[file]}, where
        assert found[file] in (b"old", new[file]), where
        seen.add(found[file])
    assert len(seen) == 2


@pytest.mark.parametrize(("command", "outputs"), [(TUNE, 2), (REPRODUCE, 4)], ids=["tune", "reproduce"])
def test_a_search_and_a_reproduction_that_are_stopped_go_on_and_end_whole(place, command, outputs):
    os.environ.pop("NCGNN_DATA", None)
    count = renames(command, place)
    new = contents(place / "here")
    assert count >= outputs
    for name in new:
        if name.endswith(".toml") or name.startswith("results"):
            path = place / "here" / name
            if path.is_file():
                path.unlink()
    for where, found in stopped(place, command, [part for part in command if part != "--overwrite"], count):
        assert set(found) == set(new), where
        for name, content in found.items():
            assert content is None or content.endswith(b"\n") or not name.endswith((".csv", ".toml", ".md")), where
