import pytest
from optuna.trial import TrialState, create_trial

from ncgnn.errors import InputError
from ncgnn.experiments.study import begun, open_study
from ncgnn.experiments.tune import run
from small_search import make_search


def test_failed_trials_are_none(tmp_path):
    study = open_study("s", f"sqlite:///{tmp_path}/s.db")
    for state in (TrialState.WAITING, TrialState.FAIL, TrialState.RUNNING):
        study.add_trial(create_trial(state=state))
    assert [trial.number for trial in begun(study)] == [0, 2]


def test_a_study_is_not_continued_on_other_splits(tmp_path):
    run(make_search(tmp_path, splits=1, trials=1))
    with pytest.raises(InputError, match="other --splits"):
        run(make_search(tmp_path, splits=2, trials=2))


@pytest.mark.parametrize("url", ["nonsense", "sqlite:////nowhere/at/all.db", "oracle+nothing://somewhere/db"])
def test_a_database_that_cannot_be_used_is_one_line(url):
    with pytest.raises(InputError, match=r"^--storage: the database cannot be used \(.+\)$"):
        open_study("s", url)
