"""The search for settings: what it chooses, that it repeats, resumes and keeps to its limits."""

from dataclasses import asdict, replace
from typing import Any, ClassVar

import numpy as np
import pytest
import torch

import ncgnn
from ncgnn.cli.told import summary
from ncgnn.errors import InputError
from ncgnn.models import Fitted, Model, PreparedGraph, find_model
from ncgnn.models.ncgnn import MODEL, Config
from ncgnn.search import LEVELS, search
from ncgnn.search.attempts import Attempt, Trainer
from ncgnn.search.levels import Level, Round
from ncgnn.train import Epoch, Inputs
from ncgnn.train.loop import class_scores

SMALL = {"num_capsules": 2, "primary_channels": 8, "class_channels": 4, "epochs": 40, "patience": 10, "dropout": 0.2}
COLLAPSING = {"lr": 1e-9, "lam": 0.123}


class Few(type(MODEL)):  # type: ignore[misc]
    """NCGNN with a small portfolio."""

    name = "few-settings"
    tries: ClassVar[dict[str, dict[str, Any]]] = {"plain": {}, "slow": {"lr": 1e-5}, "narrow": {"hops": [0]}}

    def portfolio(self, graph: PreparedGraph) -> dict[str, Config]:
        return {name: Config.make(SMALL | changes) for name, changes in self.tries.items()}


class Collapsing(Few):
    """One of its settings says the first class for all nodes, and learns nothing."""

    name = "collapsing-settings"
    tries: ClassVar = {"collapses": COLLAPSING, "plain": {}}

    def build(self, sizes, settings):
        network = super().build(sizes, settings)
        if settings.lam == COLLAPSING["lam"]:
            torch.nn.init.zeros_(network.layers[0].weight)
            torch.nn.init.ones_(network.layers[0].bias[0])
        return network


@pytest.fixture
def graph() -> PreparedGraph:
    data = ncgnn.load_dataset("karate")
    return PreparedGraph.of(ncgnn.split_per_class(data, train=4, val=12))


def figures(found) -> list[dict]:
    return [{key: value for key, value in asdict(one).items() if key != "seconds"} for one in found.tried]


def test_the_winner_has_the_best_validation_accuracy_of_the_finalists(graph):
    found = search(graph, Few())
    accuracy: dict[str, list[float]] = {}
    for one in found.tried:
        if one.step == "finalists":
            accuracy.setdefault(one.name, []).append(one.val_accuracy)
    means = {name: np.mean(values) for name, values in accuracy.items()}
    assert found.name == max(means, key=means.__getitem__)
    assert "slow" not in found.name


def test_every_candidate_is_tried_briefly_and_only_the_best_longer(graph):
    found = search(graph, Few())
    steps = [one.step for one in found.tried]
    assert steps.count("candidates") == 2
    assert [one.name for one in found.tried if one.step == "first"] == ["plain"]
    brief = max(one.epochs for one in found.tried if one.step == "candidates")
    assert brief <= LEVELS["quick"].brief.limits(found.tried[0].epochs)["epochs"]


def test_the_same_seed_gives_the_same_search_and_the_same_weights(graph):
    one, other = (search(graph, Few(), seed=3) for _ in range(2))
    assert figures(one) == figures(other)
    for name, value in one.fitted.module.state_dict().items():
        assert torch.equal(value, other.fitted.module.state_dict()[name])
    assert figures(search(graph, Few(), seed=4)) != figures(one)


def test_a_search_continues_where_it_was_interrupted(graph, tmp_path):
    whole = search(graph, Few(), folder=tmp_path / "whole")
    done = 0

    def interrupt(what, number, total):
        nonlocal done
        done = number
        if number == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search(graph, Few(), folder=tmp_path / "again", watch=interrupt)
    assert done == 5
    stored = set((tmp_path / "again").iterdir())
    assert len(stored) == 4
    times = {file: file.stat().st_mtime_ns for file in stored}
    found = search(graph, Few(), folder=tmp_path / "again")
    assert figures(found) == figures(whole)
    assert times == {file: file.stat().st_mtime_ns for file in stored}
    for name, value in found.fitted.module.state_dict().items():
        assert torch.equal(value, whole.fitted.module.state_dict()[name])


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: b"damaged",
        lambda content: bytes(1000),
        lambda content: content[:-1] + bytes([content[-1] ^ 1]),  # a weight
        lambda content: content.replace(b'seconds\\": ', b'seconds\\":9'),
    ],
    ids=["empty", "text", "zeros", "weight", "seconds"],
)
def test_a_damaged_result_is_trained_again_with_a_note(graph, tmp_path, damage):
    whole = search(graph, Few(), folder=tmp_path)
    for file in tmp_path.iterdir():
        content = file.read_bytes()
        assert damage(content) != content
        file.write_bytes(damage(content))
    with pytest.warns(UserWarning, match="not a stored training; training again"):
        assert figures(search(graph, Few(), folder=tmp_path)) == figures(whole)


def test_results_of_another_split_are_not_taken(graph, tmp_path):
    search(graph, Few(), folder=tmp_path)
    other = PreparedGraph.of(ncgnn.split_per_class(ncgnn.load_dataset("karate"), train=4, val=12, seed=1))
    assert figures(search(other, Few(), folder=tmp_path)) == figures(search(other, Few()))


def test_labels_of_other_nodes_change_nothing(graph):
    """Test labels are permuted: every figure of the search and every weight stays the same."""
    data = graph.data
    permuted = data.clone()
    aside = ~(data.train_mask | data.val_mask)
    permuted.y[aside] = data.y[aside].flip(0)
    assert not torch.equal(permuted.y, data.y)
    rivals = [find_model("gcn"), find_model("label-propagation")]
    one, other = (search(PreparedGraph.of(each), Few(), rivals=rivals) for each in (data, permuted))
    assert figures(one) == figures(other)
    for name, value in one.fitted.module.state_dict().items():
        assert torch.equal(value, other.fitted.module.state_dict()[name])


def test_a_collapse_to_one_class_is_noticed_and_not_chosen(graph):
    found = search(graph, Collapsing())
    noted = {one.name for one in found.tried if one.note}
    assert noted == {"collapses"}
    assert found.name == "plain"
    scores = class_scores(found.fitted.module, MODEL.prepare(graph, found.settings))
    assert len(scores[graph.data.val_mask].argmax(dim=1).unique()) > 1


def test_candidates_that_cannot_be_trained_are_skipped_with_the_reason(graph):
    class Odd(Few):
        name = "odd-settings"
        tries: ClassVar = {"plain": {}, "directed": {"edges": "in"}}

    found = search(graph, Odd())
    assert [one.note for one in found.tried if one.name == "directed"] == [
        "the model reads the direction of links, which this graph does not have"
    ]
    assert found.name == "plain"


def test_a_graph_on_which_nothing_can_be_trained_is_an_error(graph):
    class Odd(Few):
        name = "impossible-settings"
        tries: ClassVar = {"directed": {"edges": "in"}}

    with pytest.raises(InputError, match="no setting that was tried can be trained on this graph: the model reads"):
        search(graph, Odd())


def test_a_time_limit_ends_the_search_with_the_best_so_far(graph, monkeypatch):
    now = iter(range(10**6))
    monkeypatch.setattr("ncgnn.search.attempts.monotonic", lambda: next(now))
    monkeypatch.setattr("ncgnn.search.rounds.monotonic", lambda: 0)
    found = search(graph, Few(), minutes=1.5)
    assert 1 <= len(found.tried) < 5
    assert found.name == "plain"
    assert found.is_cut
    assert any("`--minutes`" in line for line in summary(found))


def test_a_time_limit_that_is_too_short_is_an_error(graph):
    with pytest.raises(InputError, match="allow more minutes"):
        search(graph, Few(), minutes=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"level": "deep"}, "must be one of quick, thorough"), ({"minutes": 0}, "must be positive")],
)
def test_wrong_options_are_refused(graph, options, message):
    with pytest.raises(InputError, match=message):
        search(graph, Few(), **options)


def test_rivals_are_trained_on_the_same_nodes(graph):
    found = search(graph, Few(), rivals=[find_model("gcn"), find_model("label-propagation")])
    assert list(found.rivals) == ["gcn", "label-propagation"]
    assert found.rivals["gcn"].shares.shape == (34, 4)


def test_the_number_of_trainings_is_foreseen(graph):
    told = []
    found = search(graph, Few(), watch=lambda what, number, total: told.append((number, total)))
    assert [number for number, _ in told] == list(range(1, len(found.tried) + 1))
    assert len(found.tried) <= told[0][1] <= len(found.tried) + 2


def test_with_few_validation_nodes_finalists_are_repeated_on_a_resampled_split(graph):
    found = search(graph, Few())
    assert {one.draw for one in found.tried if one.step == "finalists"} == {0, 1}
    assert {one.draw for one in found.tried if one.step != "finalists"} == {0}


def test_a_student_learns_from_the_trainings_of_the_winner(graph):
    found = search(graph, Few())
    assert [one.name for one in found.tried if one.step == "students"] == [found.name]
    if found.teachers:
        assert found.name in found.teachers
        assert found.targets.shape == (34, 4)
        torch.testing.assert_close(found.targets.sum(dim=1), torch.ones(34))


def test_models_without_a_portfolio_try_their_candidates(graph):
    gcn = find_model("gcn")
    assert not gcn.has_portfolio
    found = search(graph, gcn)
    assert found.name in gcn.portfolio(graph)
    assert isinstance(found.settings, gcn.settings_class)


def test_levels_spend_epochs_in_proportion_to_those_of_the_default():
    level = Level(Round(0.3, 0.15), Round(0.75, 0.2), 3, 1, 1, 2)
    assert level.brief.limits(200) == {"epochs": 60, "patience": 30}
    assert level.long.limits(1000) == {"epochs": 750, "patience": 200}
    assert level.brief.limits(10) == {"epochs": 30, "patience": 15}


def test_accuracy_is_averaged_over_consecutive_epochs(graph):
    result = Trainer(graph).run(Attempt(MODEL, Config.make(SMALL)))
    values = [epoch.val_accuracy for epoch in result.fitted.history]
    means = [np.mean(values[end - 10 : end]) for end in range(10, len(values) + 1)]
    assert result.accuracy == pytest.approx(max(means))
    assert result.accuracy <= result.fitted.best.val_accuracy


def test_a_resampled_split_keeps_the_numbers_of_each_class():
    data = ncgnn.split_per_class(ncgnn.load_dataset("karate"), train=4, val=12)
    from ncgnn.data.splits import redrawn

    other = redrawn(data, 1)
    assert torch.equal(other.train_mask | other.val_mask, data.train_mask | data.val_mask)
    assert not (other.train_mask & other.val_mask).any()
    assert not torch.equal(other.train_mask, data.train_mask)
    for mask in ("train_mask", "val_mask"):
        assert torch.equal(data.y[data[mask]].bincount(), data.y[other[mask]].bincount())


def test_ncgnn_has_a_portfolio_and_says_so():
    assert MODEL.has_portfolio
    assert isinstance(MODEL, Model)


class Knowing(Model[Any]):
    """Knows the classes of all validation nodes, and says them."""

    name, title, settings_class = "knowing", "oracle", find_model("label-propagation").settings_class

    def prepare(self, graph, settings):
        return Inputs((graph.data.y.clamp(min=0),))

    def build(self, sizes, settings):
        return torch.nn.Identity()

    def fit(self, inputs, split, settings, on_epoch=None, change=None):
        best = Epoch(1, 0.0, 0.0, 1.0)
        return Fitted(torch.nn.Identity(), best, [best])

    def scores(self, module, inputs):
        return 5 * torch.nn.functional.one_hot(inputs.arguments[0], 4).float(), None


def test_a_rival_that_is_better_teaches_alone(graph):
    found = search(graph, Few(), rivals=[Knowing()])
    taught = [one for one in found.tried if one.step == "students"]
    assert len(taught) == 2
    if found.teachers:
        assert found.teachers in (["oracle"], [found.name])


def test_the_user_is_told_of_a_rival_that_is_better(graph):
    found = search(graph, Few(), rivals=[Knowing()])
    told = summary(replace(found, val_accuracy=0.5))
    assert any("Averaged over ten epochs, " in line and "oracle reaches 100.0%" in line for line in told)
    assert any("`--model knowing --search quick`" in line for line in told)
    assert not any("is better" in line for line in summary(replace(found, val_accuracy=1.0)))
