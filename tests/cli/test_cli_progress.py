"""Progress is a bar where someone watches, and lines of text everywhere else."""

import os
import pty
import subprocess
import sys
from math import inf

import pytest

from helpers.papers import QUICK
from ncgnn.cli import progress
from ncgnn.train import Epoch

TRAIN = ["train", "karate", "--epochs", "2", *QUICK]


@pytest.fixture
def terminal(monkeypatch) -> None:
    monkeypatch.setattr(progress, "is_terminal", lambda: True)


def test_quick_work_says_nothing_in_a_pipe(ncgnn, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # a wish for colours, not for a bar in a log
    assert ncgnn(*TRAIN).err == ""


def test_a_terminal_has_a_bar_with_loss_and_accuracy(ncgnn, terminal):
    shown = ncgnn(*TRAIN).err
    assert "karate split 0  loss 0." in shown
    assert "validation" in shown


@pytest.mark.parametrize("pace", [0, inf])
def test_long_work_says_now_and_then_how_far_it_is(capsys, monkeypatch, pace):
    monkeypatch.setattr(progress, "PACE", pace)
    assert list(progress.track(["a", "b"], "reading")) == ["a", "b"]
    assert list(progress.track(iter("c"), "more", total=1)) == ["c"]
    with progress.epochs("split 0", 9) as show:
        show(Epoch(3, 0.25, 0.5, 0.75))
    with progress.runs("runs", 5) as one_more:
        one_more()
        one_more()
    lines = ["reading  1/2", "reading  2/2", "more  1/1", "split 0  loss 0.2500  validation 75.00%  3/9"]
    lines += ["runs  1/5", "runs  2/5"]
    assert capsys.readouterr().err == ("".join(f"... {line}\n" for line in lines) if pace == 0 else "")


def test_what_takes_long_for_sure_says_so_at_once(capsys, monkeypatch):
    monkeypatch.setattr(progress, "PACE", inf)
    with progress.status("measuring") as tell:
        tell("memory")
    assert capsys.readouterr().err == "... measuring\n"


def test_names_are_not_markup(capsys, terminal):
    with progress.status("a[/b]c") as tell:
        tell("d[/b]e")
    with progress.runs("f[/b]g", 1) as one_more:
        one_more()
    shown = capsys.readouterr().err
    assert "d[/b]e" in shown
    assert "f[/b]g" in shown


@pytest.mark.parametrize("is_watched", [True, False])
def test_a_real_terminal_gets_a_bar_and_a_pipe_gets_none(is_watched):
    """Whatever else the environment says, as that of notebooks does."""
    reader, writer = pty.openpty() if is_watched else os.pipe()
    code = "from ncgnn.cli.progress import track; list(track('ab', 'reading'))"
    environment = os.environ | {"TERM": "xterm-color", "FORCE_COLOR": "1", "CLICOLOR_FORCE": "1"}
    subprocess.run([sys.executable, "-c", code], stderr=writer, env=environment, check=True)
    os.write(writer, b"end")
    shown = os.read(reader, 100_000)
    assert (b"reading" in shown) == is_watched
    assert is_watched or shown == b"end"
    os.close(reader)
    os.close(writer)
