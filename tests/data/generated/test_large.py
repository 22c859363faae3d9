import numpy as np
import pytest
import torch

from ncgnn.data import large_graph, load_dataset
from ncgnn.errors import InputError


def ends(data):
    source, target = data.edge_index.numpy()
    return source[source < target], target[source < target]


def degrees(data):
    return np.bincount(data.edge_index[0].numpy(), minlength=data.num_nodes)


@pytest.mark.parametrize("homophily", [0.0, 0.25, 0.7, 1.0])
def test_the_requested_fraction_of_edges_is_within_classes(homophily):
    data = large_graph(2000, 8000, num_features=2, num_classes=4, homophily=homophily)
    source, target = ends(data)
    assert len(source) == 8000
    assert len(np.unique(source * 2000 + target)) == 8000
    assert (data.y[source] == data.y[target]).sum() == round(homophily * 8000)


@pytest.mark.parametrize("exponent", [2.2, 2.5, 3.5])
def test_degrees_follow_the_requested_power_law(exponent):
    """Hill's estimate from the nodes of high degree, below the cut."""
    degree = degrees(large_graph(40_000, num_features=1, exponent=exponent)).astype(float)
    least = np.quantile(degree, 0.99)
    tail = degree[degree >= least]
    found = 1 + len(tail) / np.log(tail / (least - 0.5)).sum()
    assert found == pytest.approx(exponent, rel=0.15)


def test_no_node_is_isolated_and_classes_have_equal_sizes():
    data = large_graph(3000, 3000, num_features=1, num_classes=7)
    assert degrees(data).min() >= 1
    sizes = torch.bincount(data.y)
    assert sizes.max() - sizes.min() <= 1


def test_a_seed_gives_the_same_graph_again_and_another_seed_another():
    one, same, other = (large_graph(500, num_features=3, seed=seed) for seed in (1, 1, 2))
    for key in ("x", "edge_index", "y"):
        assert torch.equal(one[key], same[key])
        assert not torch.equal(one[key], other[key])


def test_nodes_are_exchangeable():
    """A relabelled graph is as likely: neither class, degree nor features depend on the number of a node."""
    data = large_graph(20_000, num_features=4)
    half = torch.arange(20_000) < 10_000
    assert abs(data.y[half].float().mean() - data.y[~half].float().mean()) < 0.15
    degree = degrees(data)
    assert np.median(degree[half]) == pytest.approx(np.median(degree[~half]), abs=1)
    assert (data.x[half].mean(0) - data.x[~half].mean(0)).abs().max() < 0.1


def test_features_tell_classes_apart_as_far_as_requested():
    clear, nothing = (large_graph(4000, num_features=30, num_classes=3, signal=signal) for signal in (1.0, 0.0))

    def accuracy(data):
        centres = torch.stack([data.x[data.y == c].mean(0) for c in range(3)])
        return (torch.cdist(data.x, centres).argmin(1) == data.y).float().mean()

    assert accuracy(clear) > 0.95
    assert accuracy(nothing) < 0.45


def test_its_name_says_what_it_is():
    named = load_dataset("large:600,edges=1200,features=5,classes=3,homophily=0.5,exponent=3,signal=0.4,seed=7")
    same = large_graph(600, 1200, 5, 3, 0.5, 3.0, 0.4, 7)
    assert torch.equal(named.edge_index, same.edge_index)
    assert torch.equal(named.x, same.x)
    assert named.name.startswith("large:600,edges=1200")


@pytest.mark.parametrize(
    "name", ["large:", "large:many", "large:100,edge=5", "large:100,edges", "large:0", "large:1.5"]
)
def test_an_unclear_name_is_refused(name):
    with pytest.raises(InputError, match="number of nodes"):
        load_dataset(name)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"num_nodes": 10}, "4 nodes per class"),
        ({"num_edges": 99}, "too few for 100 nodes"),
        ({"num_edges": 4000, "homophily": 1.0}, "do not fit"),
        ({"homophily": 1.2}, "from 0 to 1"),
        ({"exponent": 2.0}, "above 2"),
    ],
)
def test_an_impossible_graph_is_refused(options, reason):
    with pytest.raises(InputError, match=reason):
        large_graph(**{"num_nodes": 100, "num_features": 1} | options)
