import json

import numpy as np
import pytest

from helpers.clean_graph import make_clean, undirected, with_edges
from ncgnn.bench import random_graph
from ncgnn.check import check_graph
from ncgnn.check.view import Finding
from ncgnn.data import load_dataset, planted, split_stratified, syn_cora, usual_split
from ncgnn.data.named.packaged import data_folders
from ncgnn.models.ncgnn.config import Config
from ncgnn.text import several

SMALL = Config.make({"hops": 2, "num_capsules": 2, "primary_channels": 8, "class_channels": 4})


def levels(data, folders=()) -> dict[str, str]:
    """The names of what is found, with their levels."""
    return {finding.name: finding.level for finding in check_graph(data, SMALL, folders).findings}


def test_nothing_is_found_in_a_clean_graph(clean):
    assert levels(clean) == {}


@pytest.mark.parametrize("homophily", [0.1, 0.5, 0.9])
def test_no_false_alarm_on_generated_graphs(homophily):
    found = levels(usual_split(syn_cora(homophily, num_nodes=900, seed=4)))
    assert set(found) <= {"constant features", "no homophily"}
    assert set(found.values()) <= {"note"}


def test_no_false_alarm_where_only_a_few_kinds_of_nodes_have_labels():
    assert levels(split_stratified(planted())) == {}


def test_what_is_serious_comes_first_and_decides(clean):
    clean.x[:, 7] = (clean.y == 3).float()
    clean.x[:, 8] = 1
    report = check_graph(clean, SMALL)
    assert report.is_serious
    assert [finding.name for finding in report.findings] == ["leak", "constant features"]


def test_a_graph_without_labels_can_be_checked():
    data = make_clean()
    data.y[:] = -1
    data.class_names = []
    report = check_graph(data, SMALL)
    assert (report.labelled, report.classes) == (0, 0)
    assert json.loads(json.dumps(report.to_dict()))["homophily"]["edge"] is None


def test_the_report_is_plain_json(clean):
    plain = check_graph(clean, SMALL).to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert (plain["nodes"], plain["classes"], plain["serious"]) == (400, 4, False)


def test_several_things():
    assert [several(n, thing) for n, thing in ((1, "node"), (2, "node"), (3, "class"))] == [
        "1 node",
        "2 nodes",
        "3 classes",
    ]
    assert Finding("a", "note", "", 9, range(9), "", "").first == ["0", "1", "2", "3", "4"]


def test_weighted_edges_are_compared_with_their_weights(clean):
    """Two nodes with the same neighbours and other weights are no copies."""
    pairs = undirected(clean)
    nodes, others = (10, 11), np.array([100, 150, 200, 250])
    kept = pairs[~np.isin(pairs, nodes).any(axis=1)]
    data = with_edges(clean, np.concatenate([kept, [(node, other) for node in nodes for other in others]]))
    assert "duplicates" in levels(data)
    ends = data.edge_index
    data.edge_weight = 1.0 + ((ends == 10).any(dim=0)).float()
    assert "duplicates" not in levels(data)


# Graphs of which it is known what is wrong


@pytest.mark.parametrize("name", ["squirrel", "chameleon"])
def test_the_duplicates_of_the_wikipedia_graphs_are_found(benchmark, name):
    first = check_graph(usual_split(load_dataset(name)), SMALL).findings[0]
    assert (first.name, first.level) == ("duplicates", "serious")
    assert first.count > 1000


def test_without_its_duplicates_squirrel_is_fine(benchmark):
    assert set(levels(usual_split(load_dataset("squirrel-filtered"))).values()) == {"note"}


def test_cornell_has_the_features_and_labels_of_texas(benchmark):
    report = check_graph(usual_split(load_dataset("cornell")), SMALL, data_folders())
    assert (report.findings[0].name, report.findings[0].first) == ("features of another graph", ["texas"])
    assert "features of another graph" not in levels(usual_split(load_dataset("cornell")))


def test_citeseer_has_48_isolated_nodes(benchmark):
    report = check_graph(usual_split(load_dataset("citeseer")), SMALL, data_folders())
    (isolated,) = [finding for finding in report.findings if finding.name == "isolated"]
    assert isolated.count == 48
    assert not report.is_serious


def test_the_amazon_graphs(benchmark):
    """Isolated nodes were dropped; the largest class of computers is 18 times the smallest, of photo 6 times."""
    found = levels(usual_split(load_dataset("amazon-photo")), data_folders())
    assert "warning" not in found.values()
    assert "serious" not in found.values()
    found = levels(usual_split(load_dataset("amazon-computers")), data_folders())
    assert {name for name, level in found.items() if level != "note"} == {"imbalance"}


@pytest.mark.long
def test_a_million_nodes_and_five_million_edges():
    data = random_graph(1_000_000, num_features=16)
    report = check_graph(data, SMALL)
    assert report.edges > 4_990_000
    assert report.cost.measured_nodes == 10_000
    assert [finding.level for finding in report.findings if finding.level != "note"] == []
