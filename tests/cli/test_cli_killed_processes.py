"""One of several processes, or one of two machines, is killed in the middle of training."""

import os
import re
import signal
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from time import monotonic, sleep

import pandas as pd
import pytest
import torch

from helpers import torchrun
from helpers.torchrun import environment, weights

pytestmark = [pytest.mark.long, pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")]

TRAIN = ["train", "large:800,features=8,classes=4", "--fractions", 0.1, 0.1, "--batch", 32, "--epochs", 50]
TRAIN += ["--set", "top_k=8", "--set", "hops=[0,1]", "--set", "patience=50", "--set", "num_capsules=2", "--out", "run"]
LAUNCH = [sys.executable, "-m", "torch.distributed.run"]
OFTEN = ["-m", "helpers.often"]


def start(words, folder, prefix=()):
    path = f"{Path(__file__).parents[1]}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    command, place = [str(word) for word in (*prefix, *words)], environment() | {"PYTHONPATH": path}
    with (folder / "said.txt").open("w") as said:
        return subprocess.Popen(command, cwd=folder, env=place, stdout=said, stderr=said, start_new_session=True)


def workers(launcher: int) -> dict[int, int]:
    """The processes that torchrun has started, by their rank."""
    found = {}
    for child in map(int, Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split()):
        given = re.search(rb"(?:^|\0)RANK=(\d+)", Path(f"/proc/{child}/environ").read_bytes())
        if given:
            found[int(given[1])] = child
    return found


def wait_for(condition, process, seconds=300):
    end = monotonic() + seconds
    while not condition():
        assert process.poll() is None
        assert monotonic() < end
        sleep(0.02)


def is_under_way(folder):
    return lambda: (folder / "run/checkpoint/training-1.pt").exists()


@pytest.fixture
def expected(here):
    """What a training without incident gives."""
    done = torchrun.run([*TRAIN[:-1], "whole"], here)
    assert done.returncode == 0, done.stderr
    return here / "whole"


def check_equal(found, expected):
    """Random numbers of the processes begin anew after a restart, so that dropout differs."""
    one, other = (pd.read_csv(folder / "history.csv") for folder in (found, expected))
    assert one["epoch"].tolist() == other["epoch"].tolist()
    assert other["epoch"].iloc[-1] == 50
    assert one["val_accuracy"].max() == pytest.approx(other["val_accuracy"].max(), abs=0.05)
    assert weights(found).keys() == weights(expected).keys()


@pytest.mark.parametrize("rank", [0, 1])
def test_a_process_is_killed_and_the_job_goes_on_from_the_last_checkpoint(here, expected, rank):
    words = [*LAUNCH, "--standalone", "--nproc-per-node", 2, "--max-restarts", 2, *OFTEN, *TRAIN]
    with start(words, here) as job:
        wait_for(is_under_way(here), job)
        os.kill(workers(job.pid)[rank], signal.SIGKILL)
        assert job.wait(300) == 0, (here / "said.txt").read_text()
    said = (here / "said.txt").read_text()
    assert re.search(r"an interrupted training continues after epoch \d+", said)
    check_equal(here / "run", expected)
    assert not (here / "run/checkpoint").exists()


def test_killed_at_any_moment_no_checkpoint_is_torn(here, expected):
    """A checkpoint that could not be read would be ignored, and training begin anew."""
    words = [*LAUNCH, "--standalone", "--nproc-per-node", 2, *OFTEN, *TRAIN]
    epochs = []
    for delay in (0.0, 0.13, 0.31):
        with start(words, here) as job:
            wait_for(is_under_way(here), job)
            wait_for(lambda: workers(job.pid), job)
            sleep(delay)
            os.kill(workers(job.pid)[0], signal.SIGKILL)
            job.wait(300)
        stored = torch.load(here / "run/checkpoint/training-1.pt", weights_only=True)
        epochs.append(len(stored["state"]["history"]))
    assert epochs == sorted(epochs)
    with start(words, here) as job:
        assert job.wait(300) == 0
    check_equal(here / "run", expected)


@pytest.fixture
def machines(here):
    """Two network namespaces with an address each, and a folder for each of them."""
    names = [f"ncgnn-{os.getpid()}-{number}" for number in range(2)]
    with ExitStack() as stack:
        try:
            for name in names:
                ip("netns", "add", name)
                stack.callback(ip, "netns", "delete", name)
            ip("link", "add", "veth0", "netns", names[0], "type", "veth", "peer", "name", "veth0", "netns", names[1])
            for number, name in enumerate(names):
                ip("-n", name, "address", "add", f"10.203.7.{number + 1}/24", "dev", "veth0")
                for device in ("lo", "veth0"):
                    ip("-n", name, "link", "set", device, "up")
        except (OSError, subprocess.CalledProcessError):
            pytest.skip("this machine allows no network namespaces")
        folders = [here / name for name in ("first", "second")]
        for folder in folders:
            folder.mkdir()
        yield list(zip(names, folders, strict=True))


def ip(*words):
    return subprocess.run(["ip", *words], check=True, capture_output=True, text=True).stdout


def test_one_of_two_machines_is_lost_and_the_other_goes_on(machines, expected):
    place = ["--rdzv-backend", "c10d", "--rdzv-endpoint", "10.203.7.1:29517", "--rdzv-id", "job"]
    words = [*LAUNCH, "--nnodes", "1:2", "--nproc-per-node", 1, "--max-restarts", 3, *place]
    with ExitStack() as stack:
        jobs = []
        for number, (name, folder) in enumerate(machines):
            own = ["--rdzv-conf", f"is_host={1 - number}", "--local-addr", f"10.203.7.{number + 1}"]
            inside = ["ip", "netns", "exec", name, "env", "GLOO_SOCKET_IFNAME=veth0"]
            jobs.append(stack.enter_context(start([*words, *own, *OFTEN, *TRAIN], folder, inside)))
        first, second = (folder for _, folder in machines)
        wait_for(is_under_way(first), jobs[0])
        assert {*workers(jobs[0].pid), *workers(jobs[1].pid)} == {0, 1}
        for process in ip("netns", "pids", machines[1][0]).split():  # as if the machine were switched off
            os.kill(int(process), signal.SIGKILL)
        assert jobs[0].wait(500) == 0, (first / "said.txt").read_text()
    said = (first / "said.txt").read_text()
    assert re.search(r"an interrupted training continues after epoch \d+", said)
    check_equal(first / "run", expected)
    assert not (second / "run/model.safetensors").exists()
