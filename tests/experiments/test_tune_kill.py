import os
import random
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest
from optuna.trial import TrialState

from ncgnn.experiments.study import FINISHED, open_study
from ncgnn.train import Config

TRIALS, KILLS = 40, 10
SEARCH = f"""
import sys
from pathlib import Path
from ncgnn.experiments.tune import run
from ncgnn.experiments.tune_choice import choose
from ncgnn.experiments.tune_report import write_preset
from small_search import make_search

folder = Path(sys.argv[1])
search = make_search(folder, trials={TRIALS}, grace=3)

def write(study, trial):
    write_preset(folder / "preset.toml", study, choose(search, study, 1), "a search", "2 splits")

print("ready", flush=True)
run(search, on_trial=write)
"""


def start(folder: Path) -> subprocess.Popen:
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", SEARCH, str(folder)], stdout=subprocess.PIPE, env=environment
    )
    assert select.select([process.stdout], [], [], 300)[0]
    assert process.stdout.readline() == b"ready\n"
    return process


@pytest.mark.long
def test_a_search_that_is_killed_ten_times_ends_complete(tmp_path):
    for attempt in range(KILLS):
        process = start(tmp_path)
        time.sleep(random.Random(attempt).uniform(0.1, 1.5))
        process.kill()
        process.communicate()
        if (tmp_path / "preset.toml").exists():
            Config.read(tmp_path / "preset.toml")
    last = start(tmp_path)
    last.communicate(timeout=300)
    assert last.returncode == 0
    trials = open_study("study", f"sqlite:///{tmp_path}/study.db").get_trials()
    finished = [trial for trial in trials if trial.state in FINISHED]
    assert len(finished) == TRIALS
    assert len({tuple(trial.params.values()) for trial in finished}) == TRIALS
    killed = [trial for trial in trials if trial.state == TrialState.FAIL]
    assert len(finished) + len(killed) == len(trials)
    assert killed  # some kills fell into a trial
    for trial in killed:
        again = [one for one in finished if one.params == trial.params]
        assert len(again) == 1 or not trial.params
    Config.read(tmp_path / "preset.toml")
