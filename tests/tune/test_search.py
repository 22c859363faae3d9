from dataclasses import replace
from statistics import fmean

import optuna
import pytest
import torch
from optuna.trial import FixedTrial, TrialState

from helpers.small_search import Scripted, Small, Sociable, diverges, karate_with_splits, make_search
from ncgnn.classifier import NCGNNClassifier
from ncgnn.data import load_dataset
from ncgnn.errors import InputError
from ncgnn.tune.choice import choose
from ncgnn.tune.search import run
from ncgnn.tune.study import FINISHED
from ncgnn.tune.tunable import hidden_splits


def outcome(study) -> list[tuple]:
    return [(trial.number, trial.state, trial.params, trial.value) for trial in study.get_trials()]


def test_a_trial_is_worth_the_mean_of_the_best_validation_accuracies(tmp_path):
    trial = run(make_search(tmp_path, trials=1)).get_trials()[0]
    config = Small().settings(FixedTrial(trial.params))
    runs = [NCGNNClassifier.from_config(config).fit(split) for split in hidden_splits(karate_with_splits(), 2)]
    assert trial.value == fmean(max(epoch.val_accuracy for epoch in one.history_) for one in runs)


def test_only_training_and_validation_labels_are_left():
    data = karate_with_splits()
    for number, split in enumerate(hidden_splits(data, 2)):
        known = data.train_mask[:, number] | data.val_mask[:, number]
        assert torch.equal(split.y >= 0, known)
        assert torch.equal(split.y[known], data.y[known])
        assert not split.test_mask.any()


@pytest.mark.parametrize("splits", [1, 2])
def test_other_test_labels_change_no_trial_and_no_choice(tmp_path, splits):
    data, other = karate_with_splits(splits), karate_with_splits(splits)
    test = data.test_mask.all(dim=1)  # in one split alone, they would be training labels of another
    assert test.any()
    other.y[test] = (data.y[test] + 1) % 4
    found = []
    for number, graph in enumerate((data, other)):
        folder = tmp_path / str(number)
        folder.mkdir()
        search = make_search(folder, data=graph, splits=splits, trials=4)
        study = run(search)
        found.append((outcome(study), choose(search, study, 3)[1:]))
    assert found[0] == found[1]


def test_a_graph_without_validation_nodes_cannot_be_tuned():
    data = karate_with_splits(1)
    data.val_mask[:] = False
    with pytest.raises(InputError, match="no validation nodes"):
        hidden_splits(data, 1)


@pytest.mark.parametrize("same", [True, False])
def test_the_seed_decides_the_search(tmp_path, same):
    studies = []
    for number, seed in enumerate((3, 3 if same else 4)):
        (tmp_path / str(number)).mkdir()
        studies.append(run(make_search(tmp_path / str(number), seed=seed, trials=4)))
    assert (outcome(studies[0]) == outcome(studies[1])) == same


def test_a_resumed_search_runs_what_is_missing_and_ends_like_an_undisturbed_one(tmp_path):
    (tmp_path / "once").mkdir()
    undisturbed = run(make_search(tmp_path / "once", trials=5))
    shown = []
    for trials in (2, 2, 5, 5):
        study = run(make_search(tmp_path, trials=trials), on_trial=lambda study, trial: shown.append(trial.number))
    assert shown == [0, 1, 2, 3, 4]
    assert outcome(study) == outcome(undisturbed)


class OtherDefaults(Small):
    def settings(self, trial):
        return super().settings(trial).model_copy(update={"weight_decay": 0.5})


class OneMoreParameter(Small):
    def settings(self, trial):
        return super().settings(trial).model_copy(update={"beta": trial.suggest_float("beta", 1, 2)})


@pytest.mark.parametrize("model", [OtherDefaults, OneMoreParameter])
def test_a_study_of_another_space_is_refused(tmp_path, model):
    """Its trials would be given out as settings that nobody has measured."""
    for _ in range(2):  # the same space is not
        run(make_search(tmp_path, trials=1))
    with pytest.raises(InputError, match="another space of settings"):
        run(make_search(tmp_path, model(), trials=2))


def test_without_a_number_a_search_takes_two_splits_or_the_only_one():
    assert len(hidden_splits(karate_with_splits(1))) == 1
    assert len(hidden_splits(karate_with_splits(3))) == 2
    assert len(hidden_splits(load_dataset("karate"))) == 2


def test_what_a_kill_left_of_a_finished_trial_is_removed(tmp_path):
    search = make_search(tmp_path, trials=1)
    run(search)
    for number in (0, 1):
        (tmp_path / f"study-{number}.running").touch()
    search.open()
    assert [path.name for path in tmp_path.glob("*.running")] == ["study-1.running"]  # it may have been begun


def test_no_trial_begins_after_the_time(tmp_path):
    assert run(make_search(tmp_path, seconds=0.0)).get_trials(states=FINISHED) == []


def test_a_trial_that_diverges_is_pruned_and_counts(tmp_path):
    search = make_search(tmp_path, Scripted(diverges), trials=3)
    study = run(search)
    assert [trial.state for trial in study.get_trials()] == [TrialState.PRUNED] * 3
    with pytest.raises(InputError, match="no complete trial"):
        choose(search, study, 3)


def test_a_trial_below_the_median_is_given_up_at_an_epoch_of_its_first_run(tmp_path):
    """Not before epoch 40: slow learners have until then."""
    good, poor = [0.5] * 200, [0.1] * 200
    model = Scripted(lambda choice: poor if choice.lr == 0 else good, queue=[0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 0.0])
    trials = run(make_search(tmp_path, model, trials=7)).get_trials()
    assert [trial.state for trial in trials] == [TrialState.COMPLETE] * 6 + [TrialState.PRUNED]
    assert list(trials[0].intermediate_values) == [
        20,
        40,
        80,
        160,
        1001,
    ]  # after the last split there is nothing to save
    assert list(trials[6].intermediate_values) == [20, 40]


def test_a_search_over_several_graphs_gives_nothing_up(tmp_path):
    """How good a trial is on the first graph says little about the others."""
    good, poor = [0.5] * 200, [0.1] * 200
    model = Scripted(lambda choice: poor if choice.lr == 0 else good, queue=[0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 0.0])
    search = make_search(tmp_path, model, trials=7)
    trials = run(replace(search, splits=[*search.splits, *search.splits])).get_trials()
    assert [trial.state for trial in trials] == [TrialState.COMPLETE] * 7


def test_a_late_bloomer_is_not_given_up(tmp_path):
    late = [0.1] * 39 + [0.9]
    model = Scripted(lambda choice: late if choice.lr == 0 else [0.5] * 40, queue=[0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 0.0])
    assert run(make_search(tmp_path, model, trials=7)).best_params == {"lr": 0.0}


def test_a_trial_that_ends_with_an_error_is_run_again_when_that_is_mended(tmp_path):
    def broken(choice):
        raise InputError("something else")

    for _ in range(2):
        with pytest.raises(InputError, match="something else"):
            run(make_search(tmp_path, Scripted(broken), trials=3))
    study = optuna.load_study(study_name="study", storage=f"sqlite:///{tmp_path}/study.db")
    assert [trial.state for trial in study.get_trials()] == [TrialState.WAITING]
    (tmp_path / "calm").mkdir()
    mended = Scripted(lambda choice: [choice.lr])
    assert outcome(run(make_search(tmp_path, mended, trials=3))) == outcome(
        run(make_search(tmp_path / "calm", mended, trials=3))
    )


def test_two_processes_share_a_study_and_run_no_trial_twice(tmp_path):
    trials = run(make_search(tmp_path, Sociable(folder=tmp_path), trials=6), jobs=2).get_trials()
    assert len(list(tmp_path.glob("*.here"))) == 2
    assert [trial.state in FINISHED for trial in trials] == [True] * 6
    assert len({tuple(trial.params.values()) for trial in trials}) == 6
