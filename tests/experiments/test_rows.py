import multiprocessing
import os
from pathlib import Path

import pytest

from ncgnn.errors import InputError
from ncgnn.experiments.rows import RunRow, RunStore


def row(number: int, accuracy: str = "0.5") -> RunRow:
    identity = ("5", "texas", "48/32/20", "NCGNN-A", str(number), "0", "abc", "f00d")
    return RunRow(*identity, "0.5", accuracy, "", "7", "1.0", "0.1.0", "2", "2", "2", "c0ffee", "Xeon", "2026-01-31")


def append_all(folder: Path, count: int) -> None:
    for number in range(count):
        RunStore(folder).append(row(number))


def test_what_is_appended_is_read(tmp_path):
    store = RunStore(tmp_path / "results")
    assert store.read() == []
    assert store.append(row(0))
    assert store.append(row(1))
    assert store.read() == [row(0), row(1)]
    assert store.file("5", "texas", "NCGNN default").name == "5-texas-ncgnn-default.csv"


def test_a_pipe_among_the_runs_is_not_waited_for(tmp_path):
    append_all(tmp_path, 1)
    os.mkfifo(tmp_path / "runs/5-pipe.csv")
    for use in (RunStore(tmp_path).read, RunStore(tmp_path).repair):
        with pytest.raises(InputError, match=r"runs/5-pipe.csv: cannot be read \(not a regular file\)"):
            use()


def test_a_run_is_stored_once_and_the_first_one_stays(tmp_path):
    store = RunStore(tmp_path)
    assert store.append(row(0))
    assert not store.append(row(0, accuracy="0.9"))
    assert store.read() == [row(0)]
    assert store.append(row(0)._replace(config_hash="def"))
    assert store.append(row(0)._replace(graph="beef"))


def test_a_run_that_joined_files_hold_twice_is_read_once(tmp_path):
    append_all(tmp_path, 3)
    path = RunStore(tmp_path).file("5", "texas", "NCGNN-A")
    *_, last = path.read_text().splitlines(keepends=True)
    path.write_text(path.read_text() + last.replace("0.5,0.5", "0.5,0.9"))
    assert RunStore(tmp_path).read() == [row(0), row(1), row(2)]


@pytest.mark.parametrize("column", ["test_accuracy", "val_accuracy", "roc_auc", "seed"])
@pytest.mark.parametrize("value", ["abc", "-1", "5.0"])
def test_a_row_of_senseless_numbers_is_named(tmp_path, column, value):
    append_all(tmp_path, 2)
    RunStore(tmp_path).append(row(2)._replace(**{column: value}))
    with pytest.raises(InputError, match="line 4: not a row of results"):
        RunStore(tmp_path).read()


def test_a_configuration_is_kept_once(tmp_path):
    store = RunStore(tmp_path)
    store.keep_config("abc", "lr = 0.1\n")
    store.keep_config("abc", "lr = 0.2\n")
    assert [path.read_text() for path in (tmp_path / "configs").iterdir()] == ["lr = 0.1\n"]
    assert (tmp_path / "configs/abc.toml").is_file()


def test_a_line_torn_anywhere_is_cut_and_can_be_run_again(tmp_path):
    store = RunStore(tmp_path)
    append_all(tmp_path, 2)
    path = store.file("5", "texas", "NCGNN-A")
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        kept = store.read()
        assert kept == [row(0), row(1)][: len(kept)]
        store.repair()
        assert path.read_bytes() in (b"", *(whole[: i + 1] for i, byte in enumerate(whole) if byte == 10))
        append_all(tmp_path, 2)
        assert path.read_bytes() == whole


def test_a_spoilt_line_is_named(tmp_path):
    append_all(tmp_path, 2)
    path = RunStore(tmp_path).file("5", "texas", "NCGNN-A")
    path.write_text(path.read_text().replace("0.5,", "", 1))
    with pytest.raises(InputError, match=r"ncgnn-a.csv, line 2: not a row"):
        RunStore(tmp_path).read()


def test_processes_that_append_the_same_runs_at_once_store_each_once(tmp_path):
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=append_all, args=(tmp_path, 40)) for _ in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    assert sorted(found.split for found in RunStore(tmp_path).read()) == sorted(map(str, range(40)))
