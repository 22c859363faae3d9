"""A full disk, signals, damaged caches and pipes, in processes of their own."""

import os
import resource
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest

from helpers.papers import QUICK, contents
from ncgnn.cli.spreadsheet import note_formulas

TRAIN = ["train", "karate", "--epochs", "1", *QUICK]
FOREVER = ["--epochs", "100000000", "--set", "patience=100000000"]


def limited(most: int):
    """No file of this process may be larger, as on a disk that is full."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


@pytest.mark.parametrize(
    ("arguments", "most"),
    [
        ([*TRAIN, "--out", "runs/old", "--overwrite"], 2000),
        ([*TRAIN, "--out", "runs/new"], 2000),
        (["predict", "runs/old", "karate", "--out", "o.csv"], 100),
    ],
    ids=lambda value: " ".join(value[:1]) if isinstance(value, list) else str(value),
)
@pytest.mark.long
def test_a_full_disk_is_one_line_and_changes_nothing(command, here, old_run, arguments, most):
    before = contents(here)
    done = subprocess.run(
        [command, *arguments], cwd=here, capture_output=True, text=True, timeout=300, preexec_fn=limited(most)
    )
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("ncgnn: ")
    assert "cannot be written (File too large)" in done.stderr
    assert ".ncgnn-" not in done.stderr
    assert contents(here) == before


def test_no_room_for_the_history_leaves_no_history(ncgnn, here, monkeypatch):
    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    done = ncgnn(*TRAIN, "--out", "run")
    assert (done.code, done.err) == (2, "ncgnn: run/history.csv: cannot be written (No space left on device)\n")
    assert not os.listdir(here)


NO_ROOM = "ncgnn: standard output: cannot be written (No space left on device)\n"


def test_no_room_for_what_is_printed_names_standard_output(command):
    with open("/dev/full", "w") as full:
        done = subprocess.run([command, "models"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (2, NO_ROOM)


@pytest.mark.long
def test_no_room_for_printed_predictions_names_standard_output(command, here, karate_run):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [command, "predict", karate_run, "karate"], cwd=here, stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 2
    assert done.stderr.endswith(NO_ROOM)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_that_are_closed_are_no_error(command, here, closed):
    done = subprocess.run(["sh", "-c", f"'{command}' example shop {closed}"], cwd=here, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(os.listdir(here / "shop")) == 4


@pytest.mark.long
@pytest.mark.parametrize("out", ["runs/old", "runs/new"])
def test_sigterm_ends_training_with_one_line_and_leaves_only_its_checkpoint(command, here, old_run, out):
    before = contents(here)
    arguments = [command, "train", "karate", *FOREVER, *QUICK, "--out", out, "--overwrite"]
    process = subprocess.Popen(arguments, cwd=here, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr.readline().startswith("... ")  # it is training
        process.terminate()
        said, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, said, err) == (143, "", "ncgnn: stopped by SIGTERM\n")
    left = contents(here)
    assert {name: left[name] for name in before} == before
    assert set(left) - set(before) - {out} == {f"{out}/checkpoint", f"{out}/checkpoint/training-1.pt"}


def test_sigterm_is_like_ctrl_c_with_a_code_of_its_own(ncgnn, here, monkeypatch):
    def stop(*arguments, **options):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(10)

    monkeypatch.setattr("pandas.DataFrame.to_csv", stop)
    before = signal.getsignal(signal.SIGTERM)
    done = ncgnn(*TRAIN, "--out", "run")
    assert (done.code, done.err) == (143, "ncgnn: stopped by SIGTERM\n")
    assert not os.listdir(here)
    assert signal.getsignal(signal.SIGTERM) == before


def test_sigterm_that_a_library_swallows_half_way_is_still_the_reason(ncgnn, here, monkeypatch):
    def stop(*arguments, **options):
        with suppress(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(10)
        raise AttributeError("a module that was not loaded to its end")

    monkeypatch.setattr("pandas.DataFrame.to_csv", stop)
    done = ncgnn(*TRAIN, "--out", "run")
    assert (done.code, done.err) == (143, "ncgnn: stopped by SIGTERM\n")
    assert not os.listdir(here)


@pytest.mark.parametrize("option", ["--columns", "--config"])
def test_a_pipe_without_a_writer_is_not_waited_for(ncgnn, here, tables, option):
    os.mkfifo("pipe")
    done = ncgnn("train", *tables[:4], "--label", "topic", option, "pipe")
    assert (done.code, done.err) == (2, "ncgnn: pipe: cannot be read (not a regular file)\n")


@pytest.mark.long
def test_a_damaged_cache_is_a_note_and_gives_the_same_predictions(command, here, monkeypatch):
    monkeypatch.setenv("NCGNN_CACHE", str(here / "cache"))

    def run(*arguments):
        return subprocess.run([command, *arguments], cwd=here, capture_output=True, text=True, check=True)

    run(*TRAIN, "--set", "top_k=3", "--out", "run")
    first = run("predict", "run", "karate")
    (entry,) = (here / "cache/filters").iterdir()
    for content in (b"", entry.read_bytes()[:-100], b"not a filter"):
        entry.write_bytes(content)
        done = run("predict", "run", "karate")
        assert done.stdout == first.stdout
        (note,) = set(done.stderr.splitlines()) - set(first.stderr.splitlines())
        assert note.startswith(f"note: {entry}: damaged cache file; preparing it again")


@pytest.mark.parametrize("name", ["=1+1", "+x", "-x", "@x"])
def test_a_note_says_once_that_names_may_be_taken_for_formulas(capsys, name):
    note_formulas(["plain", name, name])
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert f"2 names of nodes or classes, such as {name!r}, may be taken for formulas" in err


def test_a_note_about_an_endless_name_is_short(capsys):
    note_formulas([f"={'x' * 100_000}"])
    assert len(capsys.readouterr().err) < 500


def test_numbers_are_no_formulas(capsys):
    note_formulas(["-1", "+2.5", "-1e3", "1", "a=b"])
    assert capsys.readouterr().err == ""


def test_ids_that_begin_like_formulas_are_written_as_they_are(ncgnn, here):
    (here / "n.csv").write_text("id,f,y\n" + "".join(f"=A{i},{i % 2},y{i % 2}\n" for i in range(30)))
    (here / "e.csv").write_text("source,target\n=A0,=A1\n")
    given = ["--nodes", "n.csv", "--edges", "e.csv"]
    done = ncgnn("train", *given, "--label", "y", *QUICK, "--epochs", 1, "--out", "run")
    assert (done.code, done.err.count("may be taken for formulas")) == (0, 1)
    done = ncgnn("predict", "run", *given)
    assert done.err.count("may be taken for formulas") == 1
    assert done.out.splitlines()[1].startswith("=A0,")
    assert "formulas" not in ncgnn("predict", "run", *given, "--json").err


def test_a_warning_of_a_library_is_a_note(ncgnn, karate_run, monkeypatch):
    code = "import warnings, sys\nfrom ncgnn.cli import app\nwarnings.showwarning = app._note\nwarnings.warn('a\\nb')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "note: a b\n"
