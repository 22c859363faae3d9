"""Edge tables keep directions and kinds of edges; what other models see of a graph stays the same."""

import json
from copy import copy

import numpy as np
import pandas as pd
import pytest
import torch
from torch_geometric.data import Data

from ncgnn.data import EdgeTable, complete, read_graph, save_graph, usual_split
from ncgnn.data.completion import undirected
from ncgnn.data.edge_tables import edge_table
from ncgnn.data.fingerprint import fingerprint
from ncgnn.errors import InputError

ROWS = np.array([[1, 0], [2, 2], [0, 1], [1, 0], [2, 1]])
WEIGHTS = np.array([1.0, 5.0, 2.0, 3.0, 4.0])
NODES = pd.DataFrame({"id": list("abcd"), "y": ["u", "v", "u", "v"], "f": [0, 1, 1, 0]})
PAYS = pd.DataFrame({"payer": list("aab"), "payee": list("bcc"), "sum": [1.0, 2.0, 3.0]})
KNOWS = pd.DataFrame({"payer": list("bd"), "payee": list("ac"), "sum": [10.0, 20.0]})


def read(edges, **options):
    return read_graph(NODES, edges, label="y", **options)


def listed(table: EdgeTable) -> list[list[int]]:
    ends: list[list[int]] = table.edge_index.T.tolist()
    return ends


def test_a_directed_table_lists_each_direction_once_with_its_own_weight():
    table = edge_table(ROWS, 3, WEIGHTS)
    assert (listed(table), table.is_directed) == ([[0, 1], [1, 0], [2, 1]], True)
    assert table.edge_weight is not None
    assert table.edge_weight.tolist() == [2, 4, 4]


def test_an_undirected_table_lists_both_directions_with_the_same_weight():
    table = edge_table(ROWS, 3, WEIGHTS, is_directed=False)
    assert (listed(table), table.is_directed) == ([[0, 1], [1, 0], [1, 2], [2, 1]], False)
    assert table.edge_weight is not None
    assert table.edge_weight.tolist() == [6, 6, 4, 4]


def test_the_order_of_rows_does_not_matter():
    order = np.random.default_rng(0).permutation(len(ROWS))
    first, second = edge_table(ROWS, 3, WEIGHTS), edge_table(ROWS[order], 3, WEIGHTS[order])
    assert torch.equal(first.edge_index, second.edge_index)
    assert first.edge_weight is not None
    assert second.edge_weight is not None
    assert torch.equal(first.edge_weight, second.edge_weight)


def test_one_undirected_table_is_read_without_edge_tables():
    for edges in (PAYS, {"pays": PAYS}):
        assert "edge_tables" not in read(edges)


@pytest.mark.parametrize("directed", [False, True])
def test_the_edges_of_the_graph_are_those_of_all_tables_in_one(directed):
    apart = read({"pays": PAYS, "knows": KNOWS}, weight="sum", directed=directed)
    together = read(pd.concat([PAYS, KNOWS], ignore_index=True), weight="sum")
    assert torch.equal(apart.edge_index, together.edge_index)
    assert torch.equal(apart.edge_weight, together.edge_weight)
    assert list(apart.edge_tables) == ["pays", "knows"]
    assert all(table.is_directed == directed for table in apart.edge_tables.values())


def test_tables_keep_their_edges_and_directions():
    tables = read({"pays": PAYS, "knows": KNOWS}, weight="sum", directed=True).edge_tables
    assert listed(tables["pays"]) == [[0, 1], [0, 2], [1, 2]]
    assert listed(tables["knows"]) == [[1, 0], [3, 2]]
    assert tables["knows"].edge_weight.tolist() == [10, 20]


def test_permuted_rows_are_the_same_graph():
    shuffled = PAYS.sample(frac=1, random_state=1)
    assert fingerprint(read(PAYS, directed=True)) == fingerprint(read(shuffled, directed=True))


def test_a_single_table_that_is_no_file_is_called_edges():
    data = read(PAYS, directed=True)
    assert list(data.edge_tables) == ["edges"]
    assert torch.equal(data.edge_index, read(PAYS).edge_index)


def test_a_direction_column_turns_and_doubles_edges():
    rows = pd.DataFrame({"source": list("abc"), "target": list("bcd"), "way": ["<-", "both", "->"], "w": [1.0, 2.0, 3]})
    plain = read(rows, direction="way", directed=True).edge_tables["edges"]
    assert listed(plain) == [[1, 0], [1, 2], [2, 1], [2, 3]]
    weighed = read(rows, direction="way", weight="w", directed=True)
    assert weighed.edge_tables["edges"].edge_weight.tolist() == [1, 2, 2, 3]
    assert torch.equal(weighed.edge_weight, read(rows, direction="way", weight="w").edge_weight)
    assert weighed.roles[-4].detail == "3 rows, 4 directed edges: 0 repeated, 0 self-loops"


def test_files_are_named_by_their_stems(write):
    paths = [write("pays.csv", "source,target\na,b\n"), write("knows.tsv", "source\ttarget\nb\tc\n")]
    assert list(read(paths).edge_tables) == ["pays", "knows"]
    assert list(read(str(paths[0]), directed=True).edge_tables) == ["pays"]


def test_two_files_with_one_stem_are_refused(write, tmp_path):
    (tmp_path / "old").mkdir()
    paths = [write("pays.csv", "source,target\na,b\n"), write("old/pays.csv.gz", "source,target\na,b\n")]
    with pytest.raises(InputError, match=r"pays.csv and .*old/pays.csv.gz: two edge tables are called 'pays'"):
        read(paths)


def test_a_missing_column_is_said_of_its_file(write):
    paths = [write("pays.csv", "from,to,sum\na,b,1\n"), write("knows.csv", "from,to\na,b\n")]
    with pytest.raises(InputError, match=r"knows.csv: there is no column 'sum'"):
        read(paths, weight="sum")
    with pytest.raises(InputError, match=r"knows.csv: there is no column 'sum'"):
        read(paths, source="from", target="sum")


def test_later_tables_may_have_other_columns_for_the_ends():
    other = pd.DataFrame({"caller": ["d"], "callee": ["a"]})
    data = read({"pays": PAYS, "calls": other}, directed=True)
    assert listed(data.edge_tables["calls"]) == [[3, 0]]
    turned = {"calls": other[["callee", "caller"]], "pays": PAYS}
    again = read_graph(NODES, turned, encoding=data.encoding, class_names=data.class_names)
    assert fingerprint(again) == fingerprint(data)
    assert list(again.edge_tables) == ["pays", "calls"]


@pytest.mark.parametrize("edges", [{}, [], {"": PAYS}, {" a": PAYS}, {3: PAYS}, [PAYS, KNOWS], None, 3])
def test_other_edges_are_refused(edges):
    with pytest.raises(InputError, match=r"edge table"):
        read(edges)


def test_a_model_reads_later_tables_in_their_direction():
    data = read(PAYS, directed=True)
    again = read_graph(NODES, PAYS, encoding=data.encoding)
    assert listed(again.edge_tables["edges"]) == listed(data.edge_tables["edges"])
    with pytest.raises(InputError, match="trained on edges without direction"):
        read_graph(NODES, PAYS, encoding=read(PAYS).encoding, directed=True)


def test_a_model_of_one_table_takes_a_file_with_another_name(write):
    text = "source,target\na,b\n"
    data = read(write("pays.csv", text), directed=True)
    again = read_graph(NODES, write("june.csv", text), encoding=data.encoding)
    assert list(again.edge_tables) == ["pays"]


def test_a_model_needs_the_tables_it_was_trained_on():
    two = read({"pays": PAYS, "knows": KNOWS}).encoding
    with pytest.raises(InputError, match="trained on 2 edge tables called pays, knows, not pays, calls: "):
        read_graph(NODES, {"pays": PAYS, "calls": KNOWS}, encoding=two)
    with pytest.raises(InputError, match="trained on 2 edge tables called pays, knows, not edges: "):
        read_graph(NODES, PAYS, encoding=two)
    with pytest.raises(InputError, match="trained on 1 edge table, not 2"):
        read_graph(NODES, {"pays": PAYS, "knows": KNOWS}, encoding=read(PAYS).encoding)


def test_an_encoding_without_directions_is_stored_as_before():
    plain, directed = read(PAYS).encoding, read(PAYS, directed=True).encoding
    assert set(json.loads(plain.to_json())) == set(plain.model_dump()) - {"directed", "edge_tables"}
    assert type(directed).from_json(directed.to_json()) == directed


def test_copies_and_splits_keep_the_tables():
    data = read({"pays": PAYS, "knows": KNOWS}, directed=True)
    big = Data(x=torch.rand(40, 2), edge_index=data.edge_index, y=torch.arange(40) % 2, edge_tables=data.edge_tables)
    for other in (copy(big), complete(big), undirected(big), usual_split(complete(big)), big.clone(), big.to("cpu")):
        assert listed(other.edge_tables["pays"]) == listed(data.edge_tables["pays"])
        assert other.edge_tables["pays"].is_directed
        assert isinstance(other.edge_tables["pays"], EdgeTable)
    assert big.to("meta").edge_tables["pays"].edge_index.device.type == "meta"


EDGE = torch.tensor([[0], [1]])


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({}, "at least one"),
        ([EDGE], "must be a dict"),
        ({" ": EdgeTable(EDGE, None, is_directed=True)}, "every table needs a name"),
        (dict.fromkeys(("a", "a "), EdgeTable(EDGE, None, is_directed=True)), "duplicate names"),
        ({"a": (EDGE, None, True)}, "must be an EdgeTable"),
        ({"a": EdgeTable(EDGE + 3, None, is_directed=True)}, r"\['a'\] contains node 4, but the graph has 4 nodes"),
        ({"a": EdgeTable(EDGE - 1, None, is_directed=True)}, "contains node -1"),
        ({"a": EdgeTable(EDGE.float(), None, is_directed=True)}, "int64"),
        ({"a": EdgeTable(EDGE, torch.tensor([0.0]), is_directed=True)}, "finite and positive"),
        ({"a": EdgeTable(EDGE, torch.tensor([torch.nan]), is_directed=True)}, "finite and positive"),
        ({"a": EdgeTable(EDGE, torch.ones(2), is_directed=True)}, "for 1 edges"),
    ],
)
def test_wrong_tables_are_refused(tables, message):
    data = read(PAYS)
    data.edge_tables = tables
    with pytest.raises(InputError, match=message):
        complete(data)


def test_direction_names_and_kinds_are_part_of_the_fingerprint():
    turned = PAYS.rename(columns={"payer": "payee", "payee": "payer"})[["payer", "payee"]]
    graphs = [
        read(PAYS),
        read(PAYS, directed=True),
        read(turned, directed=True),
        read({"pays": PAYS}, directed=True),
        read({"pays": PAYS[:2], "knows": PAYS[2:]}),
        read({"pays": PAYS[:2], "knows": PAYS[2:]}, directed=True),
        read({"pays": PAYS[:1], "knows": PAYS[1:]}, directed=True),
    ]
    assert len({fingerprint(data) for data in graphs}) == len(graphs)


@pytest.mark.parametrize("options", [{}, {"directed": True}, {"weight": "sum"}, {"weight": "sum", "directed": True}])
def test_a_saved_graph_has_its_tables(tmp_path, options):
    data = read({"pays": PAYS, "knows": KNOWS}, **options)
    save_graph(data, tmp_path / "g.npz")
    again = read_graph(tmp_path / "g.npz")
    assert fingerprint(again) == fingerprint(data)
    for name, table in data.edge_tables.items():
        assert torch.equal(again.edge_tables[name].edge_index, table.edge_index)
        assert again.edge_tables[name].is_directed == table.is_directed
    assert again.encoding == data.encoding


def test_a_file_without_tables_has_no_arrays_of_them(tmp_path):
    save_graph(read(PAYS), tmp_path / "g.npz")
    with np.load(tmp_path / "g.npz") as arrays:
        assert not [key for key in arrays.files if key.startswith("edge_table")]
        assert "directed" not in str(arrays["encoding"])
    with pytest.raises(InputError, match=r"g.npz: this graph has no directed edges"):
        read_graph(tmp_path / "g.npz", directed=True)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"edge_table_names": np.array(["a", "a"])}, "must be different names"),
        ({"edge_table_directed": np.array([1, 0])}, "must be 2 bool"),
        ({"edge_table_1_edges": None}, "'edge_table_1_edges' is missing"),
        ({"edge_table_0_edges": np.array([[0, 9]])}, "outside 0 to 3"),
        ({"edge_table_0_edges": np.array([[0, 3]])}, "which are not the 4 edges of the graph"),
        ({"edge_table_0_weight": np.array([0.0, 1, 1])}, "'edge_table_0_weight' must be between"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path, changes, message):
    path = tmp_path / "g.npz"
    save_graph(read({"pays": PAYS, "knows": KNOWS}, directed=True), path)
    with np.load(path) as loaded:
        arrays = {key: loaded[key] for key in loaded.files}
    np.savez(path, **{key: value for key, value in {**arrays, **changes}.items() if value is not None})
    with pytest.raises(InputError, match=message):
        read_graph(path)


def test_tables_that_are_not_the_edges_of_the_graph_are_not_saved(tmp_path):
    data = read(PAYS, directed=True)
    data.edge_index = data.edge_index[:, :0]
    with pytest.raises(InputError, match="which are not the 0 edges"):
        save_graph(data, tmp_path / "g.npz")


def test_a_pyg_graph_keeps_its_directions_if_asked():
    one_way = Data(x=torch.eye(3), edge_index=torch.tensor([[2, 0], [0, 1]]), y=torch.tensor([0, 1, 0]))
    assert listed(read_graph(one_way, directed=True).edge_tables["edges"]) == [[0, 1], [2, 0]]
    assert "edge_tables" not in read_graph(one_way)
    with pytest.raises(InputError, match="no directed edges"):
        read_graph(read_graph(one_way), directed=True)


@pytest.mark.parametrize("library", ["networkx", "igraph"])
def test_graph_objects_know_whether_they_have_directions(library):
    module = pytest.importorskip(library)
    edges = [(2, 0), (0, 1)]
    if library == "networkx":
        directed, plain = module.DiGraph(edges), module.Graph(edges)
        for graph in (directed, plain):
            module.set_node_attributes(graph, {0: 1.0, 1: 0.0, 2: 0.0}, "f")
    else:
        directed, plain = (module.Graph(edges, directed=is_directed) for is_directed in (True, False))
        directed.vs["f"] = plain.vs["f"] = [1.0, 0.0, 0.0]
    data = read_graph(directed, directed=True)
    ends = data.edge_tables["edges"].edge_index.T.tolist()
    assert sorted((data.node_ids[a], data.node_ids[b]) for a, b in ends) == [("0", "1"), ("2", "0")]
    with pytest.raises(InputError, match="graph: this graph has no directed edges"):
        read_graph(plain, directed=True)
