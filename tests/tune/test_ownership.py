import os
import subprocess
import sys
import time

import pytest
from optuna.trial import TrialState

from helpers.small_search import Small
from ncgnn.tune.ownership import turn
from ncgnn.tune.study import open_study
from ncgnn.tune.tunable import next_trial


@pytest.fixture
def study(tmp_path):
    return open_study("s", f"sqlite:///{tmp_path}/s.db", grace=1)


@pytest.fixture
def take(study, tmp_path):
    """A turn of a search for two trials."""
    return lambda: turn(study, tmp_path / "s.lock", 2, lambda: next_trial(Small(), study, 0))


def abandon(study, take, tmp_path, keep_file: bool = True) -> dict:
    """Leave a trial as a killed process does: running, its file without a lock; from elsewhere, without a file."""
    with take() as trial:
        params = trial.params
        trial.report(0.25, 20)
        number = trial.number
        os.link(tmp_path / f"s-{number}.running", tmp_path / "kept")
    assert study.get_trials()[number].state == TrialState.RUNNING  # nobody has told how it ended
    (tmp_path / "kept").rename(tmp_path / f"s-{number}.running")
    if not keep_file:
        (tmp_path / f"s-{number}.running").unlink()
    return params


def test_each_turn_has_its_own_trial_until_there_are_enough(study, take, tmp_path):
    with take() as first, take() as second, take() as third:
        assert (first.number, second.number, third) == (0, 1, None)
        assert first.params != second.params
        assert sorted(path.name for path in tmp_path.glob("*.running")) == ["s-0.running", "s-1.running"]
    assert not list(tmp_path.glob("*.running"))


def test_the_trial_of_a_dead_process_is_the_next_one_at_once(study, take, tmp_path):
    params = abandon(study, take, tmp_path)
    with take() as trial:
        assert (trial.number, trial.params) == (0, params)
        study.tell(trial, 0.5)
    assert [one.state for one in study.get_trials()] == [TrialState.COMPLETE]


def test_the_trial_of_another_machine_is_taken_up_when_it_has_been_silent(study, take, tmp_path):
    params = abandon(study, take, tmp_path, keep_file=False)
    with take() as trial:
        assert trial.number == 1
    time.sleep(2.5)  # the database counts whole seconds
    with take() as trial:
        assert trial.params == params
    assert study.get_trials()[0].state == TrialState.FAIL  # and is tried again under another number
    assert trial.number > 1


@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt])
def test_a_turn_that_fails_leaves_its_trial_waiting(study, take, tmp_path, error):
    params = []

    def fail():
        with take() as trial:
            params.append(trial.params)
            raise error

    with pytest.raises(error):
        fail()
    assert [(one.state, [one.params]) for one in study.get_trials()] == [(TrialState.WAITING, params)]
    with take() as trial:
        assert (trial.number, [trial.params]) == (0, params)


def test_a_process_that_slept_while_another_ran_its_trial_does_no_harm(study, take):
    def wake_up():
        with take() as trial:
            study.tell(trial, 0.5)  # as the other did
            raise KeyError

    with pytest.raises(KeyError):
        wake_up()
    assert [one.value for one in study.get_trials()] == [0.5]


def test_a_lock_of_a_living_process_is_respected(study, take, tmp_path):
    """Even if it has not given a sign of life for long, as when it was stopped by hand."""
    abandon(study, take, tmp_path)
    code = "import fcntl, sys; f = open(sys.argv[1]); fcntl.flock(f, fcntl.LOCK_EX); print(1, flush=True); input()"
    command = [sys.executable, "-c", code, str(tmp_path / "s-0.running")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        other.stdout.readline()
        time.sleep(2.5)
        with take() as trial:
            assert trial.number == 1
        other.communicate(b"\n")
    with take() as trial:
        assert trial.number == 0
