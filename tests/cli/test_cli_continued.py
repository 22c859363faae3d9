"""Trainings that are killed and started again with the same command."""

import resource
import signal
import subprocess
import time

import pytest

from helpers.papers import QUICK

pytestmark = pytest.mark.long

TRAIN = ["train", "karate", "--epochs", "4000", "--set", "patience=4000", *QUICK, "--out", "run"]
CHECKPOINT = "run/checkpoint/training-1.pt"


def killed_with_checkpoint(command, here) -> None:
    process = subprocess.Popen([command, *TRAIN], cwd=here, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 120
    while not (here / CHECKPOINT).exists():
        assert process.poll() is None, "it ended before its first checkpoint"
        assert time.monotonic() < until
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    assert process.wait(60) == -signal.SIGKILL


def run(command, here, *arguments, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [command, *map(str, arguments)], cwd=here, capture_output=True, text=True, timeout=300, **options
    )


def test_a_killed_training_continues_and_ends_as_if_nothing_had_happened(command, here):
    assert run(command, here, *TRAIN[:-1], "undisturbed").returncode == 0
    killed_with_checkpoint(command, here)
    done = run(command, here, *TRAIN)
    assert done.returncode == 0, done.stderr
    assert "note: an interrupted training continues after epoch" in done.stderr
    for name in ("model.safetensors", "history.csv", "predictions.csv"):
        assert (here / "run" / name).read_bytes() == (here / "undisturbed" / name).read_bytes(), name
    assert not (here / "run/checkpoint").exists()


def test_other_settings_do_not_continue(command, here):
    killed_with_checkpoint(command, here)
    done = run(command, here, *TRAIN, "--epochs", 3)
    assert done.returncode == 0, done.stderr
    assert "continues" not in done.stderr


def test_a_disk_without_room_for_a_checkpoint_is_one_line(command, here):
    most = 3000
    done = run(command, here, *TRAIN, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == f"ncgnn: {CHECKPOINT}: cannot be written (File too large)"
    assert "Traceback" not in done.stderr
    assert [path.name for path in here.rglob("*") if path.is_file()] == []
