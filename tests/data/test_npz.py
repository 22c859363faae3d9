import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ncgnn.data import Encoding, load_dataset, read_graph, save_graph, split_per_class
from ncgnn.data.graph import both_directions, feature_tensor, make_graph, merge_edges
from ncgnn.errors import InputError

NO_FEATURES = {"x_data": np.ones(0), "x_indices": np.zeros(0, int), "x_indptr": np.zeros(4, int)}
MASKS = ("train_mask", "val_mask", "test_mask")
names = st.text(max_size=6).filter(lambda name: not name.endswith("\0"))
ENCODING = Encoding(id="id", source="source", target="target", columns=()).to_json()


def arrays(**changes):
    """Three nodes in a row with one feature, as the file format has them."""
    good = {
        "edges": np.array([[0, 1], [1, 2]], np.int32),
        "x_data": np.ones(3, np.float32),
        "x_indices": np.zeros(3, np.int32),
        "x_indptr": np.arange(4),
        "x_shape": np.array([3, 1]),
        "labels": np.array([0, 1, -1]),
    }
    return {key: value for key, value in {**good, **changes}.items() if value is not None}


def assert_equal_tables(a, b) -> None:
    assert list(a) == list(b)
    for first, second in zip(a.values(), b.values(), strict=True):
        assert first.is_directed == second.is_directed
        assert torch.equal(first.edge_index, second.edge_index)
        assert (first.edge_weight is None) == (second.edge_weight is None)
        assert first.edge_weight is None or torch.equal(first.edge_weight, second.edge_weight)


def assert_equal(a, b) -> None:
    """Assert that two graphs have the same attributes with the same values."""
    keys = sorted(a.keys())
    assert keys == sorted(b.keys())
    for key in keys:
        if key == "edge_tables":
            assert_equal_tables(a[key], b[key])
            continue
        if not isinstance(a[key], torch.Tensor):
            assert a[key] == b[key], key
            continue
        assert a[key].layout == b[key].layout, key
        assert a[key].dtype == b[key].dtype, key
        assert torch.equal(a[key].to_dense(), b[key].to_dense()), key


@st.composite
def graphs(draw):
    nodes, features, classes = draw(st.integers(1, 8)), draw(st.integers(1, 30)), draw(st.integers(1, 4))
    numbers = st.floats(-1e6, 1e6, width=32).map(lambda value: value + 0.0)  # no negative zero
    x = np.zeros((nodes, features), np.float32)
    for _ in range(draw(st.integers(0, 12))):
        x[draw(st.integers(0, nodes - 1)), draw(st.integers(0, features - 1))] = draw(numbers)
    node = st.integers(0, nodes - 1)
    pairs = np.array(draw(st.lists(st.tuples(node, node), max_size=12)), np.int64).reshape(-1, 2)
    weight = draw(st.none() | st.just(np.linspace(0.5, 2, len(pairs), dtype=np.float32)))
    edge_index, edge_weight = both_directions(*merge_edges(pairs, nodes, weight))
    y = torch.tensor(draw(st.lists(st.integers(-1, classes - 1), min_size=nodes, max_size=nodes)))
    lists = {
        key: draw(st.lists(names, min_size=size, max_size=size))
        for key, size in (
            ("class_names", classes),
            ("feature_names", features),
            ("node_ids", nodes),
            ("node_titles", nodes),
        )
    }
    shape = draw(st.sampled_from([None, (nodes,), (nodes, 3)]))
    rng = np.random.default_rng(0)
    masks = {} if shape is None else {key: torch.from_numpy(rng.random(shape) < 0.5) for key in MASKS}
    return make_graph("any", feature_tensor(x), edge_index, y, edge_weight=edge_weight, **lists, **masks)


@given(graphs())
@settings(max_examples=60, deadline=None)
def test_a_saved_graph_is_read_back_as_it_was(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("round") / "graph.npz"
    save_graph(data, path)
    assert_equal(read_graph(path), data)


def test_a_published_graph_with_splits_is_read_back_as_it_was(benchmark, tmp_path):
    texas = load_dataset("texas")
    del texas.neighbourhoods  # published beside the graph, not with it
    save_graph(texas, tmp_path / "copy.npz")
    assert_equal(read_graph(tmp_path / "copy.npz"), texas)


def test_a_split_is_read_back_as_it_was(tmp_path):
    data = split_per_class(load_dataset("karate"), train=2, val=10)
    save_graph(data, tmp_path / "split.npz")
    assert_equal(read_graph(tmp_path / "split.npz"), data)


def test_saving_replaces_the_old_file_and_leaves_no_other(tmp_path):
    save_graph(load_dataset("karate"), tmp_path / "graph.npz")
    np.savez(tmp_path / "hand.npz", **arrays())
    save_graph(read_graph(tmp_path / "hand.npz"), tmp_path / "graph.npz")
    assert read_graph(tmp_path / "graph.npz").num_nodes == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["graph.npz", "hand.npz"]


def test_a_failed_save_leaves_the_old_file_alone(tmp_path, monkeypatch):
    save_graph(load_dataset("karate"), tmp_path / "graph.npz")

    def fail(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", fail)
    with pytest.raises(InputError, match=r"cannot be written .No space left"):
        save_graph(load_dataset("karate"), tmp_path / "graph.npz")
    assert [path.name for path in tmp_path.iterdir()] == ["graph.npz"]
    assert read_graph(tmp_path / "graph.npz").num_nodes == 34


def test_a_graph_made_by_hand_takes_its_name_from_the_file(tmp_path):
    np.savez(tmp_path / "my.graph.npz", **arrays())
    data = read_graph(tmp_path / "my.graph.npz")
    assert data.name == "my.graph"
    assert data.node_ids == ["0", "1", "2"]
    assert data.edge_index.T.tolist() == [[0, 1], [1, 0], [1, 2], [2, 1]]


def test_repeated_edges_of_a_file_made_by_hand_are_merged(tmp_path):
    edges = np.array([[0, 1], [1, 0], [2, 2], [1, 2]])
    np.savez(tmp_path / "hand.npz", **arrays(edges=edges, edge_weight=np.array([1.0, 2.0, 9.0, 4.0])))
    data = read_graph(tmp_path / "hand.npz")
    assert data.edge_index.T.tolist() == [[0, 1], [1, 0], [1, 2], [2, 1]]
    assert data.edge_weight.tolist() == [3, 3, 4, 4]


def test_features_are_sparse_only_under_a_tenth_of_non_zeros():
    wide = np.zeros((2, 50), np.float32)
    wide[0, :9] = 1
    assert feature_tensor(wide).layout is torch.sparse_csr
    wide[1, 0] = 1
    assert feature_tensor(wide).layout is torch.strided


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"labels": None}, "array 'labels' is missing"),
        ({"labels": np.array([0, 1])}, r"'labels' must be integers of shape \(3,\)"),
        ({"labels": np.array([0.5, 1, 1])}, "'labels' must be integers"),
        ({"labels": np.array([0, 1, -2])}, "'labels' has values -2"),
        ({"edges": np.array([[0, 3]])}, "'edges' has values 0 to 3, outside 0 to 2"),
        ({"edges": np.array([[-1, 0]])}, "'edges' has values -1"),
        ({"edges": np.array([0, 1])}, "'edges' must be integers of shape"),
        ({"edges": np.array(1)}, "'edges' must be integers of shape"),
        ({"x_data": np.array([1, np.nan, 1])}, "'x_data' contains non-finite values"),
        ({"x_data": np.array(["a", "b", "c"])}, "not a CSR matrix"),
        ({"x_indices": np.array([0, 5, 0])}, "not a CSR matrix"),
        ({"x_indices": np.array([0.0, 0.0, 0.0])}, "not a CSR matrix"),
        ({"x_indptr": np.arange(3)}, "not a CSR matrix"),
        ({"x_shape": np.array([3])}, "not a CSR matrix"),
        ({"x_shape": np.array([3, 0]), **NO_FEATURES}, "3 nodes and 0 features"),
        ({"edge_weight": np.ones(3)}, "'edge_weight' must be 2 numbers"),
        ({"edge_weight": np.array([1.0, 0.0])}, r"'edge_weight' must be between 1e-30 and 1e\+30"),
        ({"edge_weight": np.array([1.0, np.inf])}, r"'edge_weight' must be between 1e-30 and 1e\+30"),
        ({"train_masks": np.ones((2, 4), bool)}, r"'train_masks' must be \(splits, 3\) bool"),
        ({"val_masks": np.ones((2, 3))}, r"'val_masks' must be \(splits, 3\) bool"),
        ({"class_names": np.array(["a"])}, "'class_names' has shape"),
        ({"node_ids": np.array(["a"])}, "'node_ids' has shape"),
        ({"feature_names": np.array([["a"]])}, "'feature_names' has shape"),
        (
            {"train_masks": np.ones((2, 3), bool), "val_masks": np.ones((1, 3), bool)},
            "train_masks, val_masks have different numbers of splits",
        ),
        ({"encoding": np.array("{}")}, r"bad\.npz: array 'encoding' is not an encoding"),
        ({"encoding": np.array(ENCODING)}, "'encoding' describes 0 features, x has 1"),
    ],
)
def test_a_faulty_array_is_named(tmp_path, changes, message):
    np.savez(tmp_path / "bad.npz", **arrays(**changes))
    with pytest.raises(InputError, match=message) as caught:
        read_graph(tmp_path / "bad.npz")
    assert "\n" not in str(caught.value)


def test_pickles_are_not_opened(tmp_path):
    np.savez(tmp_path / "pickle.npz", **arrays(labels=np.array([0, 1, None])))
    with pytest.raises(InputError, match="it contains pickles"):
        read_graph(tmp_path / "pickle.npz")


@pytest.mark.parametrize("keep", [0, 4, 100, 700])
def test_a_cut_file_is_an_error(tmp_path, keep):
    np.savez(tmp_path / "whole.npz", **arrays())
    (tmp_path / "cut.npz").write_bytes((tmp_path / "whole.npz").read_bytes()[:keep])
    with pytest.raises(InputError, match=r"cut.npz: not a readable"):
        read_graph(tmp_path / "cut.npz")


def test_flipped_bytes_are_an_error(tmp_path):
    save_graph(load_dataset("karate"), tmp_path / "graph.npz")
    content = bytearray((tmp_path / "graph.npz").read_bytes())
    content[60:90] = bytes(30)
    (tmp_path / "graph.npz").write_bytes(content)
    with pytest.raises(InputError, match=r"graph.npz: not a readable"):
        read_graph(tmp_path / "graph.npz")


def test_a_single_array_is_no_graph(tmp_path):
    with (tmp_path / "array.npz").open("wb") as file:
        np.save(file, np.arange(3))
    with pytest.raises(InputError, match="array 'edges' is missing"):
        read_graph(tmp_path / "array.npz")


def test_a_missing_file_and_a_folder(tmp_path):
    (tmp_path / "folder.npz").mkdir()
    with pytest.raises(InputError, match=r"nothing.npz: no such file"):
        read_graph(tmp_path / "nothing.npz")
    with pytest.raises(InputError, match=r"folder.npz: is a folder"):
        read_graph(tmp_path / "folder.npz")


def test_an_npz_file_needs_no_edge_table(tmp_path):
    with pytest.raises(InputError, match="do not pass an edge table"):
        read_graph(tmp_path / "graph.npz", tmp_path / "edges.csv")


@pytest.mark.parametrize("edges", [[[0], [1]], [[0, 1, 0], [1, 0, 0]], [[0, 1, 0, 1], [1, 0, 1, 0]], [[0, 1], [1, 2]]])
def test_only_undirected_graphs_are_saved(tmp_path, edges):
    data = make_graph("directed", torch.ones(3, 1), torch.tensor(edges), torch.zeros(3, dtype=torch.long))
    with pytest.raises(InputError, match="make it undirected"):
        save_graph(data, tmp_path / "graph.npz")


def test_what_cannot_be_saved_is_said(tmp_path):
    karate = load_dataset("karate")
    with pytest.raises(InputError, match=r"graph.txt: graphs can only be saved as .npz"):
        save_graph(karate, tmp_path / "graph.txt")
    with pytest.raises(InputError, match=r"nowhere.*cannot be written"):
        save_graph(karate, tmp_path / "nowhere" / "graph.npz")
    karate.class_names = ["a\0", "b", "c", "d"]
    with pytest.raises(InputError, match="class_names contains a name that ends in NUL"):
        save_graph(karate, tmp_path / "graph.npz")
    del karate.y
    with pytest.raises(InputError, match="requires x, y and edge_index"):
        save_graph(karate, tmp_path / "graph.npz")


def test_dense_features_are_stored_dense(tmp_path):
    x = torch.randn(50, 40)
    graph = make_graph("dense", x, both_directions(np.array([[0, 1]]))[0], torch.zeros(50, dtype=torch.int64))
    save_graph(graph, tmp_path / "dense.npz")
    stored = np.load(tmp_path / "dense.npz")
    assert "x_data" not in stored
    assert stored["x"].nbytes == 4 * 50 * 40
    assert_equal(read_graph(tmp_path / "dense.npz"), graph)


def test_dense_features_of_older_files_still_load(tmp_path):
    x = sp.csr_array(np.arange(1, 13, dtype=np.float32).reshape(3, 4))
    parts = {"x_data": x.data, "x_indices": x.indices, "x_indptr": x.indptr, "x_shape": np.array(x.shape)}
    np.savez(tmp_path / "old.npz", **arrays(**parts))
    assert torch.equal(read_graph(tmp_path / "old.npz").x, torch.from_numpy(x.toarray()))


@pytest.mark.parametrize(
    ("x", "reason"),
    [
        (np.ones(3, np.float32), "must be numbers of shape"),
        (np.array([["a"], ["b"], ["c"]]), "must be numbers of shape"),
        (np.array([[1], [np.nan], [0]]), "non-finite"),
        (np.ones((3, 0)), "0 features"),
    ],
)
def test_wrong_dense_features_are_refused(x, reason, tmp_path):
    sparse = dict.fromkeys(("x_data", "x_indices", "x_indptr", "x_shape"))
    np.savez(tmp_path / "wrong.npz", **arrays(x=x, **sparse))
    with pytest.raises(InputError, match=reason):
        read_graph(tmp_path / "wrong.npz")
