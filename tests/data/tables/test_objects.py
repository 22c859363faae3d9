import gzip

import igraph
import networkx as nx
import pandas as pd
import pytest
import torch

from ncgnn.data import read_graph
from ncgnn.errors import InputError

NODES = {"a": ("graphs", 3), "b": ("text", 5), "c": (None, 4)}
EDGES = [("a", "b", 2.0), ("b", "c", 0.5)]


def in_networkx(kind=nx.Graph):
    graph = kind()
    for node, (topic, age) in NODES.items():
        graph.add_node(node, age=age, **({} if topic is None else {"topic": topic}))
    graph.add_weighted_edges_from(EDGES)
    return graph


def in_igraph():
    graph = igraph.Graph()
    graph.add_vertices(list(NODES))
    graph.vs["topic"], graph.vs["age"] = zip(*NODES.values(), strict=True)
    graph.add_edges([edge[:2] for edge in EDGES])
    graph.es["weight"] = [edge[2] for edge in EDGES]
    return graph


def in_tables():
    nodes = pd.DataFrame([(node, *values) for node, values in NODES.items()], columns=["id", "topic", "age"])
    return nodes, pd.DataFrame(EDGES, columns=["source", "target", "weight"])


def same(data, wanted):
    keys = ("y", "edge_index", "edge_weight")
    order = [data.feature_names.index(name) for name in wanted.feature_names]
    return torch.equal(data.x.to_dense()[:, order], wanted.x.to_dense()) and all(
        torch.equal(data[key], wanted[key]) for key in keys
    )


@pytest.mark.parametrize("form", ["networkx", "directed", "multi", "igraph", "graphml", "graphml.gz"])
def test_a_graph_is_the_same_as_tables_and_as_an_object(form, tmp_path):
    path = tmp_path / f"g.{form}"
    if form.startswith("graphml"):
        nx.write_graphml(in_networkx(), path)
    graph = {
        "networkx": in_networkx,
        "directed": lambda: in_networkx(nx.DiGraph),
        "multi": lambda: in_networkx(nx.MultiGraph),
        "igraph": in_igraph,
    }.get(form, lambda: path)()
    wanted = read_graph(*in_tables(), label="topic", weight="weight")
    data = read_graph(graph, label="topic", weight="weight")
    assert same(data, wanted)
    assert (data.node_ids, data.class_names) == (wanted.node_ids, wanted.class_names)


def test_a_later_graph_is_read_as_the_first():
    first = read_graph(in_networkx(), label="topic")
    later = in_networkx()
    later.add_node("d", age=6)
    again = read_graph(later, encoding=first.encoding, class_names=first.class_names)
    assert torch.equal(again.x[:3], first.x)
    assert again.node_ids == ["a", "b", "c", "d"]


def test_nodes_may_be_anything_and_have_an_attribute_called_id():
    graph = nx.grid_2d_graph(2, 2)
    for i, node in enumerate(graph.nodes):
        graph.nodes[node].update(id="x", height=i)
    data = read_graph(graph)
    assert data.node_ids == ["(0, 0)", "(0, 1)", "(1, 0)", "(1, 1)"]
    assert data.feature_names == ["height"]
    assert data.edge_index.shape == (2, 8)


def test_vertices_without_a_name_are_numbered():
    graph = igraph.Graph(n=3)
    graph.vs["f"] = [1, 2, 3]
    data = read_graph(graph)
    assert (data.node_ids, data.edge_index.shape) == (["0", "1", "2"], (2, 0))


@pytest.mark.parametrize("graph", [nx.Graph(), igraph.Graph()])
def test_a_graph_without_nodes_is_an_error(graph):
    with pytest.raises(InputError, match="graph: the table has no rows"):
        read_graph(graph)


@pytest.mark.parametrize(
    "content",
    [b"", b"no xml", b"<graphml>", b"<a/>", gzip.compress(b"x", mtime=0), b'<?xml version="1.0"?><graphml></graphml>'],
)
@pytest.mark.parametrize("name", ["g.graphml", "g.graphml.gz"])
def test_a_broken_graphml_file_is_one_line(write, name, content):
    with pytest.raises(InputError, match=r"g.graphml(.gz)?: ") as caught:
        read_graph(write(name, content))
    assert "\n" not in str(caught.value)


def test_an_object_holds_its_edges():
    with pytest.raises(InputError, match="graph: includes the edges"):
        read_graph(in_networkx(), in_tables()[1])


def test_a_missing_graphml_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"none.graphml: no such file"):
        read_graph(tmp_path / "none.graphml")
