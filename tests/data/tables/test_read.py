import gzip

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ncgnn.data import Encoding, read_graph, save_graph
from ncgnn.errors import InputError

NODES = "id,age,member,venue,topic\n007,20,1,KDD,graphs\n8,30,0,ICML,\n9,40,1,,text\n"
EDGES = "source,target\n007,8\n8,9\n"


@pytest.fixture
def tables(write):
    return write("nodes.csv", NODES), write("edges.csv", EDGES)


def dense(data):
    return data.x.to_dense().tolist()


def pairs(data):
    """Edges, each once."""
    return [(a, b) for a, b in data.edge_index.T.tolist() if a < b]


def test_two_csv_files_become_a_graph(tables):
    data = read_graph(*tables, label="topic")
    third = 1.5**0.5
    assert data.feature_names == ["age", "member", "venue=ICML", "venue=KDD"]
    assert torch.allclose(
        data.x, torch.tensor([[-third, 1, 0, 1], [0, 0, 1, 0], [third, 1, 0, 0]], dtype=torch.float32)
    )
    assert data.y.tolist() == [0, -1, 1]
    assert data.class_names == ["graphs", "text"]
    assert data.edge_index.T.tolist() == [[0, 1], [1, 0], [1, 2], [2, 1]]
    assert data.node_ids == ["007", "8", "9"]
    assert (data.name, data.num_nodes) == ("nodes", 3)
    assert data.x.dtype == torch.float32
    assert data.y.dtype == torch.int64


def test_a_title_is_what_to_call_a_node_and_changes_no_feature(write):
    nodes = write("nodes.csv", "id,age,called,topic\n1,20,Ann B,x\n2,30,,y\n3,40, Cem ,x\n")
    edges = write("edges.csv", "source,target\n1,2\n")
    data = read_graph(nodes, edges, label="topic", title="called")
    assert data.node_titles == ["Ann B", "", "Cem"]
    assert data.feature_names == read_graph(nodes, edges, label="topic").feature_names
    assert ("called", "title") in [(role.column, role.role) for role in data.roles]


def test_titles_are_one_line_of_what_can_be_shown(write):
    nodes = write("nodes.csv", 'id,age,called\n1,2,"line one\nline\ttwo"\n2,3,\u202eRTL\u202c \x1b[31mred\n')
    data = read_graph(nodes, write("edges.csv", "source,target\n1,2\n"), title="called", ignore=["called"])
    assert data.node_titles == ["line one line two", "RTL [31mred"]


def test_without_a_column_of_titles_there_are_none(tables):
    assert "node_titles" not in read_graph(*tables, label="topic")


def test_csv_tsv_gzip_parquet_and_data_frames_give_the_same_graph(tables, write, tmp_path):
    frame = pd.read_csv(tables[0], dtype={"id": str, "topic": str, "venue": str}, keep_default_na=False)
    links = pd.read_csv(tables[1], dtype=str)
    frame.to_parquet(tmp_path / "nodes.parquet")
    links.to_parquet(tmp_path / "edges.parquet")
    forms = [
        (write("nodes.tsv", NODES.replace(",", "\t")), write("edges.tsv", EDGES.replace(",", "\t"))),
        (write("nodes.csv.gz", gzip.compress(NODES.encode())), write("edges.CSV.GZ", gzip.compress(EDGES.encode()))),
        (tmp_path / "nodes.parquet", str(tmp_path / "edges.parquet")),
        (frame, links),
        (frame.set_index("id"), links),
    ]
    wanted = read_graph(*tables, label="topic")
    for form in forms:
        data = read_graph(*form, label="topic")
        assert torch.equal(data.x, wanted.x)
        assert torch.equal(data.y, wanted.y)
        assert torch.equal(data.edge_index, wanted.edge_index)
        assert (data.node_ids, data.encoding) == (wanted.node_ids, wanted.encoding)


@pytest.mark.parametrize("ids", [[1, 2, 3], [1.0, 2.0, 3.0], ["1", "2", "3"], ["1.0", "2.0", "3.0"], [" 1", "2 ", "3"]])
@pytest.mark.parametrize("ends", [[1, 2], [1.0, 2.0], ["1", "2"], ["1.0", "2.0"]])
def test_integers_floats_and_text_are_the_same_ids(ids, ends):
    nodes = pd.DataFrame({"id": ids, "f": [1, 2, 3]})
    data = read_graph(nodes, pd.DataFrame({"source": ends[:1], "target": ends[1:]}))
    assert pairs(data) == [(0, 1)]
    assert data.node_ids == ["1", "2", "3"]


def test_ids_that_differ_only_after_the_point_stay_apart():
    nodes = pd.DataFrame({"id": ["1", "1.0", "1.1"], "f": [1, 2, 3]})
    data = read_graph(nodes, pd.DataFrame({"source": ["1.0"], "target": ["1.1"]}))
    assert pairs(data) == [(1, 2)]


@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1).map(str.strip).filter(bool),
        min_size=2,
        unique=True,
    )
)
@settings(max_examples=50, deadline=None)
def test_ids_of_any_text_survive_tables_and_files(tmp_path_factory, ids):
    folder = tmp_path_factory.mktemp("ids")
    nodes = pd.DataFrame({"id": ids, "f": np.arange(len(ids)) % 2})
    nodes.to_parquet(folder / "nodes.parquet")
    data = read_graph(folder / "nodes.parquet", pd.DataFrame({"source": ids[:1], "target": ids[1:2]}))
    assert data.node_ids == ids or all(name.endswith(".0") for name in ids)
    assert pairs(data) == [(0, 1)]
    if not any(name.endswith("\0") for name in ids):
        save_graph(data, folder / "graph.npz")
        assert read_graph(folder / "graph.npz").node_ids == data.node_ids


def test_columns_may_have_any_name_and_role(write):
    nodes = write("n.csv", "paper,topic,skip,year\na,x,1,0\nb,y,2,1\n")
    edges = write("e.csv", "w,from,to\n2,a,b\n")
    data = read_graph(nodes, edges, id="paper", label="topic", source="from", target="to", weight="w", ignore=["skip"])
    assert data.feature_names == ["year"]
    assert data.edge_weight.tolist() == [2, 2]


def test_without_names_the_first_columns_are_ids_and_ends(write):
    data = read_graph(write("n.csv", "topic,paper,f\nx,a,0\ny,b,1\n"), write("e.csv", "u,v\na,b\n"), label="topic")
    assert data.node_ids == ["a", "b"]
    assert pairs(data) == [(0, 1)]


def test_a_column_called_id_comes_before_the_first(write):
    data = read_graph(write("n.csv", "f,id\n0,a\n1,b\n"), write("e.csv", "x,target,source\n1,a,b\n"))
    assert data.node_ids == ["a", "b"]
    assert pairs(data) == [(0, 1)]


def test_repetitions_and_self_loops_of_edges_do_not_matter(tables, write):
    once = read_graph(*tables)
    often = read_graph(tables[0], write("more.csv", EDGES + "8,007\n9,9\n8,9\n"))
    assert torch.equal(once.edge_index, often.edge_index)
    assert "edge_weight" not in often


def test_weights_of_repetitions_are_summed_in_both_directions(tables, write):
    edges = write("w.csv", "source,target,w\n8,9,1.5\n9,8,2\n007,8,1\n9,9,5\n")
    data = read_graph(tables[0], edges, weight="w")
    assert data.edge_index.T.tolist() == [[0, 1], [1, 0], [1, 2], [2, 1]]
    assert data.edge_weight.tolist() == [1, 1, 3.5, 3.5]


@pytest.mark.parametrize("text", ["source,target\n", "source,target"])
def test_an_edge_table_without_rows_is_a_graph_without_edges(tables, write, text):
    assert read_graph(tables[0], write("none.csv", text)).edge_index.shape == (2, 0)


def test_numbers_are_standardised_over_the_table(write):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"id": range(50), "a": rng.normal(7, 3, 50), "b": 5.1, "c": rng.integers(0, 2, 50)})
    data = read_graph(frame, pd.DataFrame({"source": [0], "target": [1]}))
    x = data.x.double().numpy()
    assert x[:, 0].mean() == pytest.approx(0, abs=1e-6)
    assert x[:, 0].std() == pytest.approx(1, abs=1e-6)
    assert (x[:, 1] == 0).all()
    assert (x[:, 2] == frame["c"]).all()


@pytest.mark.parametrize("values", [[True, False], ["True", "False"], ["true", "FALSE"]])
def test_booleans_are_ones_and_zeros(values):
    data = read_graph(pd.DataFrame({"id": [1, 2], "b": values}), pd.DataFrame({"source": [1], "target": [2]}))
    assert (data.feature_names, dense(data)) == (["b"], [[1], [0]])


def test_numbers_named_as_categorical_become_categories(write):
    nodes = write("n.csv", "id,zip\n1,007\n2,7\n3,007\n")
    data = read_graph(nodes, write("e.csv", "source,target\n1,2\n"), categorical=["zip"])
    assert data.feature_names == ["zip=007", "zip=7"]
    assert dense(data) == [[1, 0], [0, 1], [1, 0]]


def test_categories_of_a_data_frame_stay_categories():
    nodes = pd.DataFrame({"id": pd.Categorical([1, 2]), "c": pd.Categorical(["b", "a"]), "n": pd.Categorical([1, 1])})
    data = read_graph(nodes, pd.DataFrame({"source": [1], "target": [2]}))
    assert data.feature_names == ["c=a", "c=b", "n=1"]


def test_many_categories_make_sparse_features():
    frame = pd.DataFrame({"id": range(200), "c": [f"c{i % 50}" for i in range(200)], "n": np.arange(200) % 2})
    data = read_graph(frame, pd.DataFrame({"source": [0], "target": [1]}))
    assert data.x.layout is torch.sparse_csr
    x = data.x.to_dense()
    assert (x[:, :50].sum(dim=1) == 1).all()
    assert x[:, 50].tolist() == (np.arange(200) % 2).tolist()


def test_whole_number_classes_are_sorted_as_numbers():
    frame = pd.DataFrame({"id": range(4), "f": range(4), "y": [10.0, 9.0, np.nan, 10.0]})
    data = read_graph(frame, pd.DataFrame({"source": [0], "target": [1]}), label="y")
    assert (data.class_names, data.y.tolist()) == (["9", "10"], [1, 0, -1, 1])


def test_other_classes_are_sorted_as_text():
    frame = pd.DataFrame({"id": range(3), "f": range(3), "y": ["10", "9", "b"]})
    data = read_graph(frame, pd.DataFrame({"source": [0], "target": [1]}), label="y")
    assert data.class_names == ["10", "9", "b"]


def test_without_label_no_node_is_labelled(tables):
    data = read_graph(*tables, ignore=["topic"])
    assert (data.y.tolist(), data.class_names) == ([-1, -1, -1], [])


def test_quoted_values_may_hold_separators_line_ends_and_other_scripts(write):
    nodes = write("n.csv", '\ufeffid,c\n"a,b","x\ny"\n"ü""",東京\n')
    data = read_graph(nodes, write("e.csv", 'source,target\n"a,b","ü"""\n'))
    assert data.node_ids == ["a,b", 'ü"']
    assert data.feature_names == ["c=x\ny", "c=東京"]


def test_blanks_around_names_and_values_do_not_matter(write):
    data = read_graph(write("n.csv", "id , f\r\n a, 0\r\nb ,1\r\n"), write("e.csv", "source, target\r\na, b\r\n"))
    assert (data.node_ids, data.feature_names, pairs(data)) == (["a", "b"], ["f"], [(0, 1)])


def test_a_key_is_left_out_with_a_warning():
    frame = pd.DataFrame({"id": range(300), "title": [f"paper {i}" for i in range(300)], "f": np.arange(300) % 2})
    edges = pd.DataFrame({"source": [0], "target": [1]})
    with pytest.warns(UserWarning, match="column 'title': 300 different values in 300 rows .*dropped"):
        data = read_graph(frame, edges)
    assert data.feature_names == ["f"]
    assert len(read_graph(frame, edges, categorical=["title"]).feature_names) == 301


@pytest.mark.parametrize(
    ("header", "message"), [("blank", "column 'blank': every value is blank"), ("", "column '': it has no name")]
)
def test_columns_without_values_or_name_are_left_out_with_a_warning(write, header, message):
    value = "" if header else "5"
    nodes = write("n.csv", f"{header},id,f\n{value},a,0\n{value},b,1\n")
    with pytest.warns(UserWarning, match=message):
        data = read_graph(nodes, write("e.csv", "source,target\na,b\n"))
    assert data.feature_names == ["f"]


def test_a_large_table_has_the_edges_that_python_counts():
    rng = np.random.default_rng(0)
    nodes = pd.DataFrame({"id": np.arange(200_000), "a": rng.random(200_000), "c": rng.choice(list("abc"), 200_000)})
    edges = pd.DataFrame(rng.integers(0, 200_000, (400_000, 2)), columns=["source", "target"])
    data = read_graph(nodes, edges)
    keys = {(min(a, b), max(a, b)) for a, b in edges.to_numpy().tolist() if a != b}
    assert data.edge_index.shape[1] == 2 * len(keys)


def test_an_encoding_survives_json(tables):
    encoding = read_graph(*tables, label="topic").encoding
    assert Encoding.from_json(encoding.to_json()) == encoding


@pytest.mark.parametrize("nothing", ["NaN", "nan", "null", "NULL", "<NA>", "#N/A", ""])
def test_what_programs_write_for_nothing_is_no_class_and_no_category(tmp_path, nothing):
    (tmp_path / "n.csv").write_text(f"id,topic,venue\nnull,a,x\n2,b,{nothing}\n3,{nothing},y\n")
    (tmp_path / "e.csv").write_text("source,target\nnull,2\n")
    data = read_graph(tmp_path / "n.csv", tmp_path / "e.csv", label="topic")
    assert data.class_names == ["a", "b"]
    assert data.y.tolist() == [0, 1, -1]
    assert data.feature_names == ["venue=x", "venue=y"]
    assert data.node_ids[0] == "null"  # an id may be called anything


def test_missing_values_are_no_names():
    nodes = pd.DataFrame({"id": [1, 2, 3, 4], "k": ["u", None, "v", "u"], "y": ["a", "b", None, "a"]})
    data = read_graph(nodes, pd.DataFrame({"source": [1], "target": [2]}), label="y", categorical=["k"])
    assert (data.class_names, data.feature_names) == (["a", "b"], ["k=u", "k=v"])


def test_an_index_that_is_also_a_column_is_no_second_one():
    nodes = pd.DataFrame({"id": [1, 2], "f": [0.5, 2]}).set_index("id", drop=False)
    assert read_graph(nodes, pd.DataFrame({"source": [1], "target": [2]})).node_ids == ["1", "2"]


@pytest.mark.parametrize("name", ["shop.2024.csv", "shop.2024.csv.gz"])
def test_a_graph_is_called_after_its_file(tmp_path, name):
    pd.DataFrame({"id": [1, 2], "f": [0.5, 2]}).to_csv(tmp_path / name, index=False)
    assert read_graph(tmp_path / name, pd.DataFrame({"source": [1], "target": [2]})).name == "shop.2024"


@pytest.mark.parametrize("weight", ["1e39", "1e-50"])
def test_weights_beyond_float32_are_refused(weight):
    edges = pd.DataFrame({"source": [1, 1], "target": [2, 2], "w": ["1", weight]})
    with pytest.raises(InputError, match=r"column 'w', row 2: .* is not between 1e-30 and 1e\+30"):
        read_graph(pd.DataFrame({"id": [1, 2], "f": [0.5, 2]}), edges, weight="w")


@pytest.mark.parametrize(
    ("columns", "said", "expected"),
    [
        (["a", "b"], {}, ("a", "b")),
        (["w", "source", "target"], {}, ("source", "target")),
        (["a", "b"], {"source": "b"}, ("b", "a")),
        (["w", "source", "dest"], {"weight": "w"}, ("source", "dest")),
        (["target", "from"], {}, ("from", "target")),
    ],
)
def test_ends_that_are_not_named_are_those_that_are_left(columns, said, expected):
    edges = pd.DataFrame({name: [i % 2 + 1] for i, name in enumerate(columns)})
    encoding = read_graph(pd.DataFrame({"id": [1, 2], "f": [0.5, 2]}), edges, **said).encoding
    assert (encoding.source, encoding.target) == expected
