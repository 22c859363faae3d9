"""Temporary files: removed when they are left behind, kept while a process uses them."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from ncgnn.errors import InputError
from ncgnn.files import atomic
from ncgnn.temporary import remove_abandoned, temporary_file, temporary_folder

WRITER = """
import sys
from pathlib import Path
from ncgnn.temporary import temporary_file, temporary_folder
with temporary_file(Path(sys.argv[1])), temporary_folder(Path(sys.argv[1])) as folder:
    (folder / "file").write_text("more")
    print("ready", flush=True)
    sys.stdin.read()
"""


def test_a_temporary_file_and_folder_are_gone_at_the_end(tmp_path):
    with temporary_file(tmp_path) as (_, file), temporary_folder(tmp_path) as folder:
        assert file.is_file()
        assert folder.is_dir()
    assert not os.listdir(tmp_path)


def test_what_a_killed_process_leaves_is_removed_by_the_next_and_what_a_live_one_uses_stays(tmp_path):
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert writer.stdout.readline() == "ready\n"
        left = sorted(os.listdir(tmp_path))
        assert len(left) == 2
        with atomic(tmp_path / "mine") as file:
            file.write("mine")
        assert sorted(os.listdir(tmp_path)) == [*left, "mine"]
    finally:
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
    with atomic(tmp_path / "mine") as file:
        file.write("again")
    assert os.listdir(tmp_path) == ["mine"]


def test_files_of_others_are_not_taken_for_left_behind(tmp_path):
    for name in (".hidden", ".ncgnn-notes", "x.tmp", ".out.csv.abc123"):
        (tmp_path / name).write_text("mine")
    remove_abandoned(tmp_path)
    assert len(os.listdir(tmp_path)) == 4


def test_a_link_that_is_called_like_a_temporary_file_is_not_followed(tmp_path):
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").write_text("mine")
    (tmp_path / ".ncgnn-x.tmp").symlink_to("kept")
    os.mkfifo(tmp_path / ".ncgnn-y.tmp")  # nor waited for
    remove_abandoned(tmp_path)
    assert (tmp_path / "kept" / "file").read_text() == "mine"


def test_many_writers_of_one_file_do_not_remove_what_the_others_use(tmp_path):
    def write(number: int) -> None:
        with atomic(tmp_path / "file") as file:
            file.write(f"{number}\n" * 100)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(200)))
    assert os.listdir(tmp_path) == ["file"]
    assert len(set((tmp_path / "file").read_text().splitlines())) == 1


def test_a_link_that_leads_to_itself_is_one_line(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(InputError, match="loop: cannot be written"), atomic(tmp_path / "loop"):
        pass
