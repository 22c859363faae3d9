import numpy as np

from helpers.clean_graph import with_edges
from ncgnn.check.structure import component_findings, isolated_findings
from ncgnn.check.view import View


def test_nodes_without_an_edge_are_found(clean, edges):
    lonely = [3, 17, 200, 399]
    data = with_edges(clean, edges[~np.isin(edges, lonely).any(axis=1)])
    (finding,) = isolated_findings(View.of(data))
    assert (finding.count, finding.first, finding.level) == (4, ["3", "17", "200", "399"], "warning")
    assert component_findings(View.of(data)) == []  # each is said once


def test_a_graph_without_edges_is_serious(clean, edges):
    (finding,) = isolated_findings(View.of(with_edges(clean, edges[:0])))
    assert (finding.name, finding.level, finding.count) == ("no edges", "serious", clean.num_nodes)


def test_self_loops_are_no_edges(clean, edges):
    kept = edges[~np.isin(edges, [7]).any(axis=1)]
    data = with_edges(clean, kept)
    loop = np.array([[7], [7]])
    data.edge_index = data.edge_index.new_tensor(np.concatenate([data.edge_index.numpy(), loop], axis=1))
    (finding,) = isolated_findings(View.of(data))
    assert (finding.first, finding.level) == (["7"], "note")


def test_a_component_without_a_training_node_is_found(clean, edges):
    away = np.flatnonzero(clean.test_mask.numpy())[:4]
    path = np.stack([away[:-1], away[1:]], axis=1)
    data = with_edges(clean, np.concatenate([edges[~np.isin(edges, away).any(axis=1)], path]))
    (finding,) = component_findings(View.of(data))
    assert (finding.count, finding.level) == (4, "note")
    assert finding.first == [str(node) for node in away]
    assert "1 component without a training node" in finding.what
    data.train_mask[away[0]] = True
    assert component_findings(View.of(data)) == []


def test_many_such_nodes_are_a_warning_and_without_a_split_labels_count(clean, edges):
    data = with_edges(clean, edges[(edges < 300).all(axis=1) | (edges >= 300).all(axis=1)])
    data.y[300:] = -1
    del data.train_mask
    (finding,) = component_findings(View.of(data))
    assert finding.level == "warning"
    assert "without a label" in finding.what
