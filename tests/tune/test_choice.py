import pytest

from helpers.small_search import Choice, Scripted, diverges, make_search
from ncgnn.tune.choice import choose
from ncgnn.tune.search import run

LUCKY, STEADY = 0.25, 0.75


def with_luck(choice: Choice) -> list[float]:
    """One setting is best with the first seed alone."""
    if choice.lr == LUCKY:
        return [0.9 if choice.seed == 0 else 0.1]
    return [0.8] if choice.lr == STEADY else [0.3]


def searched(folder, script=with_luck):
    search = make_search(folder, Scripted(script, queue=[LUCKY, STEADY, 0.5]), trials=3)
    return search, run(search)


def test_a_second_seed_decides_between_the_best(tmp_path):
    search, study = searched(tmp_path)
    winner = choose(search, study, 2)
    assert winner.settings == Choice(lr=STEADY, seed=0)
    assert winner.accuracy == pytest.approx(0.8)
    assert winner.rivals == 2


def test_without_a_rival_the_best_with_one_seed_wins(tmp_path):
    search, study = searched(tmp_path)
    winner = choose(search, study, 1)
    assert winner.settings == Choice(lr=LUCKY)
    assert winner.accuracy == pytest.approx(0.9)
    assert winner.rivals == 0


def test_the_second_seed_is_run_once(tmp_path):
    runs = []

    def counted(choice):
        runs.append(choice.seed)
        return with_luck(choice)

    search, study = searched(tmp_path, counted)
    first = choose(search, study, 3)
    assert choose(search, search.open(), 3)[1:] == first[1:]
    assert runs.count(1) == 3 * 2  # trials and splits


def test_a_second_seed_that_diverges_is_worth_nothing(tmp_path):
    search, study = searched(tmp_path, lambda c: diverges(c) if c.seed and c.lr == STEADY else [c.lr])
    winner = choose(search, study, 2)
    assert winner.settings == Choice(lr=0.5)
