"""Files that are replaced together."""

import os
import signal
import threading
from pathlib import Path

import pytest

from ncgnn import together as module
from ncgnn.errors import InputError
from ncgnn.files import atomic
from ncgnn.together import COMPLETE, settled, together

NAMES = ("a", "b", "c")


def write(folder: Path, text: str, names: tuple[str, ...] = NAMES) -> None:
    with together(folder, NAMES) as stage:
        for name in names:
            with atomic(stage / name) as file:
                file.write(text)


def found(folder: Path) -> dict[str, str]:
    with settled(folder):
        return {path.name: path.read_text() for path in folder.iterdir()}


@pytest.fixture
def folder(tmp_path) -> Path:
    write(tmp_path / "run", "old")
    (tmp_path / "run" / "notes").write_text("mine")
    return tmp_path / "run"


def test_all_files_are_new_and_those_of_others_stay(folder):
    write(folder, "new")
    assert found(folder) == {"a": "new", "b": "new", "c": "new", "notes": "mine"}


def test_files_that_the_new_set_does_not_have_are_removed(folder):
    write(folder, "new", ("a",))
    assert found(folder) == {"a": "new", "notes": "mine"}


def test_an_error_changes_nothing_and_names_the_folder_that_users_know(folder):
    def fail() -> None:
        with together(folder, NAMES) as stage:
            (stage / "a").write_text("new")
            with atomic(stage / "nowhere" / "x"):
                pass

    with pytest.raises(InputError, match=f"^{folder}/nowhere/x: cannot be written"):
        fail()
    assert found(folder) == {"a": "old", "b": "old", "c": "old", "notes": "mine"}


def test_an_error_leaves_no_new_folder(tmp_path):
    with pytest.raises(KeyboardInterrupt), together(tmp_path / "new"):
        raise KeyboardInterrupt
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("number", range(1, 6))
@pytest.mark.parametrize("names", [NAMES, ("a",)])
def test_a_process_that_ends_at_any_step_leaves_all_old_or_all_new(folder, number, names, monkeypatch):
    count = 0

    def watched(real):
        def step(*arguments, **options):
            nonlocal count
            count += 1
            if count == number:
                os._exit(0)
            return real(*arguments, **options)

        return step

    child = os.fork()
    if child == 0:
        with together(folder, NAMES) as stage:
            for name in names:
                (stage / name).write_text("new")
            for place, name in ((os, "rename"), (os, "replace"), (module, "remove"), (Path, "rmdir")):
                monkeypatch.setattr(place, name, watched(getattr(place, name)))
        os._exit(1)
    os.waitpid(child, 0)
    expected = dict.fromkeys(NAMES, "old") if number == 1 else dict.fromkeys(names, "new")
    assert found(folder) == expected | {"notes": "mine"}


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_in_the_middle_waits_until_all_files_are_new(folder, sent, monkeypatch):
    def rename(*arguments, real=os.rename):
        real(*arguments)
        signal.raise_signal(sent)

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.rename", rename)
    before = signal.signal(sent, stop)
    try:
        with pytest.raises(KeyboardInterrupt):
            write(folder, "new")
    finally:
        signal.signal(sent, before)
    assert {path.name: path.read_text() for path in folder.iterdir()} == dict.fromkeys(NAMES, "new") | {"notes": "mine"}


def test_a_reader_beside_two_writers_sees_one_set(folder):
    ended = threading.Event()

    def keep_writing(text: str) -> None:
        while not ended.is_set():
            write(folder, text)

    writers = [threading.Thread(target=keep_writing, args=(text,)) for text in ("one", "two")]
    for writer in writers:
        writer.start()
    try:
        for _ in range(100):
            seen = {text for name, text in files_of(folder).items() if name in NAMES}
            assert len(seen) == 1
    finally:
        ended.set()
        for writer in writers:
            writer.join()
    assert sorted(os.listdir(folder)) == [*NAMES, "notes"]


def files_of(folder: Path) -> dict[str, str]:
    with settled(folder):
        return {name: (folder / name).read_text() for name in NAMES}


def test_files_of_another_folder_are_not_moved_through_a_link(folder, tmp_path):
    write(tmp_path / "other", "theirs")
    (folder / COMPLETE).symlink_to("../other")
    assert files_of(folder) == dict.fromkeys(NAMES, "old")
    assert found(tmp_path / "other") == dict.fromkeys(NAMES, "theirs")


def test_what_cannot_be_finished_is_one_line(folder):
    (folder / COMPLETE).mkdir()
    (folder / COMPLETE / "a").write_text("new")
    (folder / "a").unlink()
    (folder / "a").mkdir()
    with pytest.raises(InputError, match="being replaced when a process was stopped"), settled(folder):
        pass
