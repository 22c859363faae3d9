import optuna
import pytest
from optuna.trial import FixedTrial

from ncgnn.data import DATASETS
from ncgnn.models.ncgnn.config import Config, preset
from ncgnn.models.ncgnn.points import known_points
from ncgnn.models.ncgnn.space import parameters, suggest

GRAPHS = (*DATASETS, "syn-cora", "my-own-graph")
FILTERS = ("attention", "diffusion")


def random_trials(number: int):
    optuna.logging.set_verbosity(optuna.logging.CRITICAL)
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    return [study.ask() for _ in range(number)]


@pytest.mark.parametrize("filter", FILTERS)
@pytest.mark.parametrize("graph", GRAPHS)
def test_whatever_is_suggested_is_a_valid_configuration(graph, filter):
    for trial in random_trials(8):
        config = Config.make(suggest(trial, graph, filter))
        assert config.filter == filter


@pytest.mark.parametrize(
    ("graph", "farthest"),
    [("cora", 5), ("pubmed", 5), ("amazon-photo", 2), ("texas", 3), ("syn-cora", 3), ("syn-cora:0.3", 3), ("mine", 5)],
)
def test_hops_reach_as_far_as_in_the_paper_with_and_without_the_node_itself(graph, farthest):
    seen = {tuple(Config.make(suggest(trial, graph, "attention")).hop_set) for trial in random_trials(20)}
    assert seen == {tuple(range(farthest + 1)), tuple(range(1, farthest + 1))}


def test_a_prior_that_favours_one_hop_favours_the_node_itself():
    configs = [Config.make(suggest(trial, "texas", "attention")) for trial in random_trials(40)]
    priors = [config.zeta_prior for config in configs if config.zeta_prior is not None]
    assert priors
    assert all(prior[0] > max(prior[1:]) for prior in priors)
    assert all(config.hop_set[0] == 0 for config in configs if config.zeta_prior is not None)


@pytest.mark.parametrize("graph", GRAPHS)
def test_pagerank_is_exact_but_on_large_graphs(graph):
    is_large = graph in ("pubmed", "amazon-photo", "amazon-computers")
    assert suggest(random_trials(1)[0], graph, "diffusion")["steps"] == (5 if is_large else None)


@pytest.mark.parametrize("filter", FILTERS)
def test_every_sparsification_is_met_at_most_one_at_a_time(filter):
    configs = [Config.make(suggest(trial, "cora", filter)) for trial in random_trials(60)]
    seen = {(config.top_k, config.epsilon) for config in configs}
    every = {(None, None), (64, None), (128, None), (256, None), (None, 1e-4)}
    assert seen == (every if filter == "diffusion" else {(None, None)})


@pytest.mark.parametrize("filter", FILTERS)
def test_parameters_are_the_inverse_of_suggest(filter):
    for trial in random_trials(20):
        config = Config.make(suggest(trial, "cora", filter))
        # a parameter out of its range would be a warning, and with it an error
        assert Config.make(suggest(FixedTrial(parameters(config)), "cora", filter)) == config


@pytest.mark.parametrize("filter", FILTERS)
@pytest.mark.parametrize("graph", GRAPHS)
def test_known_points_lie_in_the_space(graph, filter):
    points = known_points(graph, filter)
    assert len(points) >= 2
    for point in points:
        suggest(FixedTrial(point), graph, filter)


@pytest.mark.parametrize("filter", FILTERS)
@pytest.mark.parametrize("graph", GRAPHS)
def test_the_first_point_is_the_preset_as_far_as_it_is_searched(graph, filter):
    """How far the hops reach, the steps of PageRank and the patience are not."""
    first = suggest(FixedTrial(known_points(graph, filter)[0]), graph, filter)
    wanted = Config.make(preset(graph, filter))
    same = {key for key in first if key not in ("hops", "steps")}
    assert {key: first[key] for key in same} == {key: getattr(wanted, key) for key in same}
    assert (0 in Config.make(first).hop_set) == (0 in wanted.hop_set)
