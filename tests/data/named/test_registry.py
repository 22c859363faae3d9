import pytest

from ncgnn.data import DATASETS, dataset_info, load_dataset, statistics
from ncgnn.errors import InputError

TABLE_1 = [name for name, info in DATASETS.items() if info.paper is not None]


def test_table_1_has_twelve_graphs():
    assert len(TABLE_1) == 12


@pytest.mark.parametrize("name", TABLE_1)
def test_every_graph_equals_its_column_of_table_1(benchmark, name):
    found, paper = statistics(load_dataset(name)), DATASETS[name].paper
    assert (found.nodes, found.edges) == (paper.nodes, paper.edges)
    assert (found.features, found.classes) == (paper.features, paper.classes)
    assert round(found.edge_homophily, 2) == paper.edge_homophily


@pytest.mark.parametrize("name", [name for name in DATASETS if name.startswith("syn-cora")])
def test_the_published_synthetic_graphs_load(benchmark, name):
    found = statistics(load_dataset(name))
    assert (found.nodes, found.edges, found.features, found.classes) == (1490, 2968, 1433, 5)
    assert found.edge_homophily == pytest.approx(float(name.partition(":")[2]), abs=0.02)


def test_every_graph_can_be_had_or_says_where():
    for info in DATASETS.values():
        assert info.pyg or info.elsewhere or info.name.startswith(("karate", "planted", "syn-cora:", "large:"))


def test_an_unknown_name_comes_with_near_ones():
    with pytest.raises(InputError, match=r"unknown graph 'Chamelon'; did you mean .*chameleon"):
        dataset_info("Chamelon")


def test_a_name_near_to_none_comes_with_all():
    with pytest.raises(InputError, match=r"known: cora, citeseer, .*karate"):
        dataset_info("zzz")


def test_any_homophily_has_a_synthetic_graph():
    assert dataset_info("syn-cora:0.125").name == "syn-cora:0.125"
    assert dataset_info("syn-cora:0.50") == dataset_info("syn-cora:0.5")


@pytest.mark.parametrize("homophily", ["1.5", "-0.1", "", "high", "nan"])
def test_a_homophily_that_is_none(homophily):
    with pytest.raises(InputError, match="from 0 to 1"):
        dataset_info(f"syn-cora:{homophily}")
