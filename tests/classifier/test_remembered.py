"""What a model has to know again of the graph it was trained on: linked nodes, and labels."""

import pandas as pd
import pytest
import torch
from torch_geometric.data import Data

import ncgnn
from helpers.papers import node_rows
from ncgnn.errors import InputError

SMALL = {"num_capsules": 2, "primary_channels": 8, "class_channels": 4, "epochs": 15, "hops": [0, 1]}
BELIEFS = SMALL | {"groups": [{"reads": "beliefs"}]}
LINKS = SMALL | {"groups": [{"reads": "links"}]}


def papers(numbers=range(60), label="topic"):
    nodes = pd.DataFrame(node_rows(numbers))
    pairs = [(i, j) for i in numbers for j in (i + 2, i + 4) if j in numbers]
    edges = pd.DataFrame([{"from": f"{i:03d}", "to": f"{j:03d}"} for i, j in pairs])
    if label is None:
        nodes = nodes.drop(columns="topic")
    return ncgnn.read_graph(nodes=nodes, edges=edges, label=label, ignore=["note"])


@pytest.fixture(scope="module")
def data():
    return ncgnn.split_stratified(papers(), seed=0)


@pytest.mark.parametrize("settings", [BELIEFS, LINKS])
def test_a_saved_model_predicts_the_same_without_the_labels(data, tmp_path, settings):
    classifier = ncgnn.NodeClassifier("ncgnn", settings).fit(data)
    classifier.save(tmp_path / "model.safetensors")
    loaded = ncgnn.NodeClassifier.load(tmp_path / "model.safetensors")
    blank = papers(label=None)
    expected = classifier.predict_proba(data)
    assert (loaded.predict_proba(data) == expected).all()
    assert (loaded.predict_proba(blank) == expected).all()


@pytest.mark.parametrize("settings", [BELIEFS, LINKS])
def test_new_nodes_are_predicted_beside_the_old_ones(data, settings):
    classifier = ncgnn.NodeClassifier("ncgnn", settings).fit(data)
    more = papers(range(70))
    assert classifier.predict_proba(more).shape == (70, 2)


@pytest.mark.parametrize("settings", [BELIEFS, LINKS])
def test_the_order_of_rows_does_not_matter(data, settings):
    classifier = ncgnn.NodeClassifier("ncgnn", settings).fit(data)
    nodes = pd.DataFrame(node_rows(range(60))).iloc[::-1]
    pairs = [(i, j) for i in range(60) for j in (i + 2, i + 4) if j < 60]
    edges = pd.DataFrame([{"from": f"{i:03d}", "to": f"{j:03d}"} for i, j in pairs])
    turned = ncgnn.read_graph(nodes=nodes, edges=edges, label="topic", ignore=["note"])
    expected = dict(zip(data.node_ids, classifier.predict_proba(data), strict=True))
    for name, found in zip(turned.node_ids, classifier.predict_proba(turned), strict=True):
        assert found == pytest.approx(expected[name], abs=1e-5)


def test_a_graph_without_any_linked_node_is_refused(data):
    classifier = ncgnn.NodeClassifier("ncgnn", LINKS).fit(data)
    with pytest.raises(InputError, match="links to the nodes it was trained on, and this graph has none of them"):
        classifier.predict(papers(range(100, 160)))


def test_numbers_are_not_taken_for_names():
    karate = ncgnn.split_per_class(ncgnn.load_dataset("karate"), train=4, val=12)
    classifier = ncgnn.NodeClassifier("ncgnn", LINKS | {"hops": [1]}).fit(karate)
    part = Data(
        x=karate.x.to_dense()[:9], edge_index=torch.tensor([[0, 1], [1, 0]]), feature_names=karate.feature_names
    )
    with pytest.raises(InputError, match=r"links to the 34 nodes it was trained on, and this is another graph"):
        classifier.predict(part)


def test_tables_with_numbers_as_ids_are_known_again():
    """Ids 0 to n - 1 of tables are names, unlike the numbers of a graph without any."""
    nodes = pd.DataFrame({"id": range(60), "kind": ["a", "b"] * 30, "size": [i * 7 % 11 for i in range(60)]})
    edges = pd.DataFrame([{"from": i, "to": i + 2} for i in range(58)])
    numbered = ncgnn.split_stratified(ncgnn.read_graph(nodes=nodes, edges=edges, label="kind"), seed=0)
    classifier = ncgnn.NodeClassifier("ncgnn", LINKS).fit(numbered)
    more = pd.concat([nodes, pd.DataFrame({"id": [60], "kind": [None], "size": [3]})])
    later = ncgnn.read_graph(nodes=more, edges=edges, encoding=classifier.encoding_)
    assert len(classifier.predict(later)) == 61


def test_links_are_named_by_the_nodes_the_model_was_trained_on(data):
    classifier = ncgnn.NodeClassifier("ncgnn", LINKS).fit(data)
    (why,) = classifier.explain(papers(range(20, 60)), ["030"], features=True, top=200)
    named = {one.name for one in why.features.largest if one.name.startswith("link with")}
    assert {f"link with {i:03d}" for i in (26, 28, 32, 34)} & named
    assert not {name for name in named if int(name.split()[-1]) < 20}
