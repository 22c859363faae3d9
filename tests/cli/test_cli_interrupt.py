import json
import os
import pty
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

from helpers.papers import QUICK, contents

FOREVER = ["--epochs", "100000000", "--set", "patience=100000000"]


def read_until(terminal: int, word: bytes, seconds: float) -> bytes:
    """What a terminal shows until the word comes, or until its program has closed it."""
    shown, until = b"", time.monotonic() + seconds
    while word not in shown:
        assert time.monotonic() < until, f"{word!r} did not come: {shown!r}"
        try:
            shown += os.read(terminal, 65536)
        except OSError:  # how Linux says that the other end is closed
            return shown
    return shown


def test_ctrl_c_in_a_terminal_stops_training_with_one_line(command, here, old_run):
    before = contents(here)
    terminal, end = pty.openpty()
    arguments = [command, "train", "karate", *FOREVER, *QUICK, "--out", "runs/old", "--overwrite"]
    process = subprocess.Popen(arguments, cwd=here, stdout=subprocess.PIPE, stderr=end)
    os.close(end)
    try:
        shown = read_until(terminal, b"loss", 300)
        process.send_signal(signal.SIGINT)
        shown += read_until(terminal, b"ncgnn: stopped\r\n", 60)
        assert process.wait(60) == 130
        assert process.stdout.read() == b""
    finally:
        process.kill()
        process.communicate()
        os.close(terminal)
    # the bar is wiped away, the cursor is back, and one line is left
    assert shown.rpartition(b"\x1b[2K")[2] == b"ncgnn: stopped\r\n"
    assert shown.rfind(b"\x1b[?25h") > shown.rfind(b"\x1b[?25l")
    assert b"Traceback" not in shown
    assert contents(here) == before


@pytest.mark.parametrize("out", ["runs/old", "runs/new"])
def test_ctrl_c_without_a_terminal_is_the_same_line_alone(ncgnn, here, old_run, out):
    before = contents(here)
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        done = ncgnn("train", "karate", *FOREVER, *QUICK, "--out", out, "--overwrite")
    finally:
        timer.cancel()
    assert (done.code, done.out, done.err) == (130, "", "ncgnn: stopped\n")
    assert contents(here) == before


def test_ctrl_c_while_files_are_written_leaves_none_half_written(ncgnn, here, old_run, monkeypatch):
    before = contents(here)

    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("pandas.DataFrame.to_csv", interrupted)
    done = ncgnn("train", "karate", "--epochs", 1, *QUICK, "--out", old_run, "--overwrite")
    assert (done.code, done.err) == (130, "ncgnn: stopped\n")
    assert contents(here) == before
    done = ncgnn("predict", old_run, "karate", "--out", "p.csv")
    assert done.code == 130
    assert not Path("p.csv").exists()


@pytest.mark.long
def test_a_reader_who_has_seen_enough_is_no_error(command, karate_run, here):
    """Explanations of all nodes are more than a pipe holds."""
    line = f"'{command}' explain '{karate_run}' karate --json --features | head -n 1"
    done = subprocess.run(["bash", "-c", line], cwd=here, capture_output=True, text=True, timeout=300)
    assert json.loads(done.stdout)["node"] == "0"
    assert done.stderr == ""
