import numpy as np
import pandas as pd
import pytest
import torch

from ncgnn.classifier import NCGNNClassifier
from ncgnn.data import read_graph, save_graph, split_stratified, standardise, unscaled, with_encoding
from ncgnn.data.fingerprint import fingerprint
from ncgnn.errors import InputError

EDGES = pd.DataFrame({"source": range(39), "target": range(1, 40)})
SMALL = {"num_capsules": 2, "primary_channels": 4, "class_channels": 3, "hops": 2, "epochs": 3}


def table(**changes):
    rng = np.random.default_rng(0)
    columns = {"id": range(40), "y": ["u", "v"] * 20, "age": rng.normal(50, 9, 40), "flag": [0, 1, 1, 0] * 10}
    columns["city"] = [f"c{i % 20}" for i in range(40)]
    columns["since"] = pd.date_range("2020-01-01", periods=40, freq="W").astype("str")
    return pd.DataFrame(columns | changes)


@pytest.fixture(params=["dense", "sparse"])
def data(request):
    nodes = table() if request.param == "sparse" else table().drop(columns="city")
    data = split_stratified(read_graph(nodes, EDGES, label="y"))
    data.x = data.x.to_dense() if request.param == "dense" else data.x.to_dense().to_sparse_csr()
    return data


def column(data, name):
    return data.x.to_dense()[:, data.feature_names.index(name)].double()


@pytest.mark.parametrize("name", ["age", "since"])
def test_training_nodes_have_mean_0_and_deviation_1(data, name):
    scaled = column(standardise(data), name)[data.train_mask]
    assert scaled.mean() == pytest.approx(0, abs=1e-6)
    assert scaled.std(correction=0) == pytest.approx(1, abs=1e-6)
    assert column(data, name)[data.train_mask].mean() != pytest.approx(0, abs=1e-3)


def test_flags_and_categories_stay(data):
    scaled = standardise(data)
    names = [name for name in data.feature_names if name not in ("age", "since")]
    assert all(torch.equal(column(scaled, name), column(data, name)) for name in names)


def test_test_nodes_have_no_influence(data):
    ages = table()["age"].where(~data.test_mask.numpy(), 1e9)
    other = split_stratified(read_graph(table(age=ages), EDGES, label="y"))
    assert torch.equal(other.train_mask, data.train_mask)
    scaled = [column(standardise(graph), "age")[data.train_mask] for graph in (data, other)]
    assert torch.equal(*scaled)


def test_what_was_scaled_is_what_a_later_table_becomes(data):
    scaled = standardise(data)
    again = read_graph(table(), EDGES, encoding=scaled.encoding, class_names=scaled.class_names)
    assert torch.equal(again.x.to_dense(), scaled.x.to_dense())
    assert torch.equal(with_encoding(data, scaled.encoding).x.to_dense(), scaled.x.to_dense())


@pytest.mark.parametrize("value", [7.0, np.nan])
def test_a_column_without_spread_on_training_nodes_is_scaled_by_the_table(data, value):
    ages = table()["age"].where(~data.train_mask.numpy(), value)
    graph = read_graph(table(age=ages), EDGES, label="y")
    graph.train_mask = data.train_mask
    assert torch.equal(column(standardise(graph), "age"), column(graph, "age"))


def test_the_numbers_of_the_table_come_back(data):
    assert column(unscaled(standardise(data)), "age").numpy() == pytest.approx(table()["age"].to_numpy(), rel=1e-6)


def test_a_graph_keeps_its_fingerprint_whichever_nodes_it_is_scaled_by(data):
    other = split_stratified(data, seed=1)
    assert fingerprint(standardise(data)) == fingerprint(standardise(other)) == fingerprint(data)
    assert fingerprint(data) != fingerprint(read_graph(table(age=1.5), EDGES, label="y"))


def test_graphs_that_are_not_from_tables_stay(data):
    del data.encoding
    assert standardise(data) is data


def test_a_model_takes_the_graph_as_read_saved_and_read_again(data, tmp_path):
    classifier = NCGNNClassifier(**SMALL).fit(data)
    assert classifier.encoding_ == standardise(data).encoding
    save_graph(data, tmp_path / "g.npz")
    graphs = [
        read_graph(tmp_path / "g.npz"),
        standardise(data),
        split_stratified(data, seed=5),
        read_graph(table(), EDGES, encoding=classifier.encoding_),
    ]
    expected = classifier.decision_function(data)
    assert all(np.array_equal(classifier.decision_function(graph), expected) for graph in graphs)


def test_columns_that_were_read_otherwise_are_refused():
    edges = pd.DataFrame({"source": [0], "target": [1]})
    numbers, flags = (
        read_graph(pd.DataFrame({"id": range(4), "v": values, "w": [1.5, 2, 3, 4]}), edges)
        for values in ([0, 1, 2, 3], [0, 1, 1, 0])
    )
    for data, other in ((numbers, flags), (flags, numbers)):
        with pytest.raises(InputError, match="column 'v' was encoded differently in training"):
            with_encoding(data, other.encoding)
