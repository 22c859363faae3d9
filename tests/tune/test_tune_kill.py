"""Searches that are killed, at every write to the database and at random moments of real training."""

import os
import random
import select
import subprocess
import sys
import time
from pathlib import Path

import optuna
import pytest
from optuna.trial import TrialState

from ncgnn.models.ncgnn.config import Config
from ncgnn.tune.study import open_study

EVERY_WRITE = """
import itertools, os, shutil, sys
from pathlib import Path
from sqlalchemy import event
from sqlalchemy.engine import Engine
from ncgnn.tune.search import run
from helpers.small_search import Scripted, make_search

root = Path(sys.argv[1])
model = Scripted(lambda choice: [choice.lr] * 50, queue=[0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.1, 1.0])

def search(name, trials):
    (root / name).mkdir(exist_ok=True)
    return make_search(root / name, model, trials=trials)

def in_a_process(name, writes):
    child = os.fork()
    if child == 0:
        left = itertools.count(writes, -1)
        event.listen(Engine, "before_cursor_execute", lambda c, cursor, statement, *_: (
            statement.startswith(("INSERT", "UPDATE")) and (next(left) or os._exit(9))
        ))
        run(search(name, 8))
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

run(search("begun", 6))
for writes in itertools.count():
    shutil.copytree(root / "begun", root / str(writes))
    ended = in_a_process(str(writes), writes)
    if ended == 0:
        break
    assert ended == 9
    assert in_a_process(str(writes), -1) == 0
"""

TRIALS, KILLS = 60, 10
TRAINING = f"""
import sys
from pathlib import Path
from ncgnn.tune.search import run
from ncgnn.tune.choice import choose
from ncgnn.tune.export import write_preset
from helpers.small_search import make_search

folder = Path(sys.argv[1])
search = make_search(folder, trials={TRIALS})

def write(study, trial=None):
    write_preset(folder / "preset.toml", study, choose(search, study, 1), "a search", "2 splits")
    print("trial", flush=True)

write(run(search, on_trial=write))
"""


def start(script: str, folder: Path) -> subprocess.Popen:
    folders = [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, folders))}
    command = [sys.executable, "-W", "ignore", "-c", script, str(folder)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)


def study_in(folder: Path) -> optuna.Study:
    return open_study("study", f"sqlite:///{folder}/study.db")


def outcome(folder: Path) -> list[tuple]:
    trials = study_in(folder).get_trials()
    return [(t.number, t.state, t.params, t.intermediate_values, t.value) for t in trials]


@pytest.mark.long
def test_a_search_that_is_killed_at_any_write_ends_like_an_undisturbed_one(tmp_path):
    process = start(EVERY_WRITE, tmp_path)
    process.communicate(timeout=300)
    assert process.returncode == 0
    *killed, calm = sorted((path for path in tmp_path.iterdir() if path.name != "begun"), key=lambda p: int(p.name))
    assert len(killed) > 15  # two trials, each with several writes
    assert [trial.state for trial in study_in(calm).get_trials()][6:] == [TrialState.PRUNED, TrialState.COMPLETE]
    for folder in killed:
        assert outcome(folder) == outcome(calm), folder.name
        assert not list(folder.glob("*.running"))


def kill_at_work(folder: Path, delay: float) -> bool:
    """Kill a search soon after it has finished another trial; whether that fell into the next one."""
    process = start(TRAINING, folder)
    assert process.stdout is not None
    assert select.select([process.stdout], [], [], 300)[0]
    time.sleep(delay)
    process.kill()
    process.communicate()
    Config.read(folder / "preset.toml")
    return any(trial.state == TrialState.RUNNING for trial in study_in(folder).get_trials())


def preset(folder: Path) -> list[str]:
    """Without the day on which it was written."""
    lines = (folder / "preset.toml").read_text().splitlines()
    return [line for line in lines if not line.startswith("# 20")]


@pytest.mark.long
def test_a_search_that_is_killed_ten_times_ends_like_an_undisturbed_one(tmp_path):
    calm, killed = tmp_path / "calm", tmp_path / "killed"
    for folder in (calm, killed):
        folder.mkdir()
    moments = random.Random(0)
    assert any([kill_at_work(killed, moments.uniform(0, 0.2)) for _ in range(KILLS)])
    assert len(outcome(killed)) < TRIALS
    for folder in (calm, killed):
        last = start(TRAINING, folder)
        last.communicate(timeout=300)
        assert last.returncode == 0
    assert len(outcome(calm)) == TRIALS
    assert outcome(killed) == outcome(calm)
    assert preset(killed) == preset(calm)
    assert not list(killed.glob("*.running"))
