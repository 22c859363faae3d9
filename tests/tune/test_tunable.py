import optuna
import pytest
import torch
from optuna.trial import TrialState

from helpers.small_search import Scripted, Small
from ncgnn.data import read_graph, standardise, usual_split
from ncgnn.tune.study import open_study
from ncgnn.tune.tunable import hidden_splits, next_trial


@pytest.fixture
def study(tmp_path):
    return open_study("s", f"sqlite:///{tmp_path}/s.db")


class Conditional(Scripted):
    """A space in which one parameter has a meaning beside one value of another only."""

    def settings(self, trial):
        if trial.suggest_categorical("filter", ("none", "top")) == "top":
            trial.suggest_int("k", 1, 9)

    def points(self):
        return [{"filter": "none", "k": 3}, {"filter": "top", "k": 3}]


def finish(study: optuna.Study, trial, value: float = 0.5) -> dict:
    study.add_trial(optuna.trial.create_trial(params=trial.params, distributions=trial.distributions, value=value))
    return trial.params


def test_a_trial_waits_with_all_its_parameters(study):
    trial = next_trial(Small(), study, 0)
    assert trial.state == TrialState.WAITING
    assert trial.params == Small().points()[0]
    assert set(trial.distributions) == {"lr", "p"}
    assert study.get_trials() == []  # nothing is stored by looking ahead


def test_points_come_first_and_once(study):
    model = Scripted(lambda choice: [0.5], queue=[0.5, 0.5, 0.25])
    params = [finish(study, next_trial(model, study, 0)) for _ in range(3)]
    assert params[:2] == [{"lr": 0.5}, {"lr": 0.25}]
    assert params[2] not in params[:2]


def test_what_means_nothing_at_a_point_is_not_asked_for(study):
    params = [finish(study, next_trial(Conditional(lambda choice: [0.5]), study, 0)) for _ in range(3)]
    assert params[:2] == [{"filter": "none"}, {"filter": "top", "k": 3}]


def test_what_is_drawn_follows_from_the_seed_and_the_trials_before(study):
    finish(study, next_trial(Small(), study, 3))
    first, again, other = (next_trial(Small(), study, seed).params for seed in (3, 3, 10**22))
    assert first == again != other
    finish(study, next_trial(Small(), study, 3))
    assert next_trial(Small(), study, 3).params != first


def test_a_failed_trial_leaves_no_trace(study):
    finish(study, next_trial(Small(), study, 0))
    before = next_trial(Small(), study, 0).params
    study.add_trial(optuna.trial.create_trial(state=TrialState.FAIL))
    assert next_trial(Small(), study, 0).params == before


@pytest.fixture
def own_tables(tmp_path):
    """Forty nodes with a number each, which is larger in one class."""
    rows = [f"n{i},{'ab'[i % 2]},{1000 * (i % 2) + i}" for i in range(40)]
    (tmp_path / "nodes.csv").write_text("\n".join(["id,label,size", *rows]) + "\n")
    edges = [f"n{i},n{(i + 1) % 40}" for i in range(40)]
    (tmp_path / "edges.csv").write_text("\n".join(["source,target", *edges]) + "\n")
    return read_graph(tmp_path / "nodes.csv", tmp_path / "edges.csv", id="id", label="label")


def test_numbers_are_scaled_by_the_training_nodes_of_each_split_as_in_training(own_tables):
    found = hidden_splits(own_tables, 2)
    for number, split in enumerate(found):
        assert torch.equal(split.x.to_dense(), standardise(usual_split(own_tables, number)).x.to_dense())
    assert not torch.equal(found[0].x.to_dense(), found[1].x.to_dense())
