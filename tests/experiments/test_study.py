import time

import pytest
from optuna.trial import TrialState

from ncgnn.errors import InputError
from ncgnn.experiments.study import count, enqueue, open_study, release_dead
from ncgnn.experiments.tune import run
from small_search import make_search

# asking without optimizing is how a test makes a trial that nobody runs
pytestmark = pytest.mark.filterwarnings("ignore:Heartbeat of storage:UserWarning")


def states(study) -> list[TrialState]:
    return [trial.state for trial in study.get_trials()]


def test_points_are_queued_once_and_again_only_after_a_failure(tmp_path):
    study = open_study("s", f"sqlite:///{tmp_path}/s.db")
    for _ in range(2):
        enqueue(study, [{"lr": 0.1}, {"lr": 0.2}, {"lr": 0.1}])
    assert count(study, TrialState.WAITING) == 2
    study.tell(study.ask(), state=TrialState.FAIL)
    enqueue(study, [{"lr": 0.1}, {"lr": 0.2}])
    assert count(study, TrialState.WAITING) == 2


def test_a_trial_that_was_killed_before_its_first_sign_of_life_is_given_up(tmp_path):
    study = open_study("s", f"sqlite:///{tmp_path}/s.db")
    study.ask()
    release_dead(study, grace=60)
    assert states(study) == [TrialState.RUNNING]
    time.sleep(0.1)
    release_dead(study, grace=0)
    assert states(study) == [TrialState.FAIL]


def test_what_failed_is_queued_again_but_not_for_ever(tmp_path):
    study = open_study("s", f"sqlite:///{tmp_path}/s.db")
    tries = 0
    enqueue(study, [{"lr": 0.1}])
    while count(study, TrialState.WAITING):
        study.tell(study.ask(), state=TrialState.FAIL)
        release_dead(study)
        release_dead(study)  # as after a kill: nothing is queued twice
        tries += 1
    assert tries == 3


def test_a_study_is_not_continued_on_other_splits(tmp_path):
    run(make_search(tmp_path, splits=1, trials=1))
    with pytest.raises(InputError, match="other --splits"):
        run(make_search(tmp_path, splits=2, trials=2))


@pytest.mark.parametrize("url", ["nonsense", "sqlite:////nowhere/at/all.db", "oracle+nothing://somewhere/db"])
def test_a_database_that_cannot_be_used_is_one_line(url):
    with pytest.raises(InputError, match=r"^--storage: the database cannot be used \(.+\)$"):
        open_study("s", url)
