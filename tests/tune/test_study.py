import pytest
from optuna.trial import TrialState, create_trial

from helpers.small_search import karate_with_splits, make_search
from ncgnn.errors import InputError
from ncgnn.tune.study import begun, open_study


def test_failed_trials_are_none(tmp_path):
    study = open_study("s", f"sqlite:///{tmp_path}/s.db")
    for state in (TrialState.WAITING, TrialState.FAIL, TrialState.RUNNING):
        study.add_trial(create_trial(state=state))
    assert [trial.number for trial in begun(study)] == [0, 2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"splits": 1}, "was started on 2 splits, not 1: use the same splits"),
        ({"data": "other"}, "was started on another graph"),
        ({"seed": 1}, "was started with seed 0, not 1: use the same seed"),
    ],
)
def test_a_study_is_one_search(tmp_path, options, message):
    make_search(tmp_path).open()
    if "data" in options:
        options = {"data": karate_with_splits()}
        options["data"].y[0] = (options["data"].y[0] + 1) % 4
    with pytest.raises(InputError, match=message):
        make_search(tmp_path, **options).open()


@pytest.mark.parametrize("url", ["nonsense", "oracle+nothing://somewhere/db"])
def test_a_database_that_cannot_be_used_is_one_line(url):
    with pytest.raises(InputError, match=r"^the database cannot be used \(.+\): choose another storage$"):
        open_study("s", url)


def test_a_database_that_cannot_be_opened_is_named():
    with pytest.raises(InputError, match=r"^/nowhere/at/all.db: cannot be used .+\): choose another storage$"):
        open_study("s", "sqlite:////nowhere/at/all.db")
