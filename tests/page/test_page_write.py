import re

import numpy as np
import pytest
from torch_geometric.data import Data

from helpers.elements import Elements
from helpers.planted_names import PLANTED
from ncgnn.classifier import NCGNNClassifier
from ncgnn.data import load_dataset, usual_split
from ncgnn.errors import InputError
from ncgnn.explain import GraphExplainer
from ncgnn.page import served_page, write, write_page
from ncgnn.page.choice import choose


@pytest.fixture(scope="module")
def elements(planted_page) -> Elements:
    return Elements(planted_page.read_text("utf-8"))


def test_nothing_is_loaded_from_elsewhere(elements):
    loading = [
        value
        for _, attributes in elements.found
        for name, value in attributes.items()
        if name in ("src", "href", "data")
    ]
    assert set(loading) == {"#", "data:,"}
    assert not {tag for tag, _ in elements.found} & {"img", "iframe", "object", "embed", "base"}


def test_the_policy_allows_no_connection_and_only_this_script_and_style(elements):
    policy = next(a["content"] for _, a in elements.found if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "connect-src 'none'" in policy
    assert "unsafe" not in policy


def test_script_and_style_load_nothing(elements):
    script = elements.scripts[None]
    assert re.findall(r"https?://[^\"]*", script) == ["http://www.w3.org/2000/svg"]  # a name, not an address
    assert "innerHTML" not in script


def test_planted_names_are_data_and_nothing_else(elements, planted):
    assert [attributes for tag, attributes in elements.found if tag == "script"] == [
        {"type": "application/json", "id": "overview-data"},
        {"type": "application/json", "id": "views-data"},
        {},
    ]
    overview, views = elements.json("overview-data"), elements.json("views-data")
    assert overview["nodes"]["id"] == planted.node_ids
    assert overview["classes"] == planted.class_names
    assert overview["name"] == planted.name
    assert set(PLANTED) <= set(views["features"])


def test_every_node_is_explained_by_its_place_in_the_table(elements, planted):
    overview, views = elements.json("overview-data"), elements.json("views-data")
    assert sorted(map(int, views["nodes"])) == list(range(planted.num_nodes))
    for place, view in views["nodes"].items():
        predicted = overview["classes"][overview["nodes"]["predicted"][int(place)]]
        assert view["rather"].startswith(f"{predicted} rather than ")


def test_accuracy_is_that_on_the_test_nodes(explainer, karate, tmp_path):
    write_page(tmp_path / "page.html", explainer)
    quality = Elements((tmp_path / "page.html").read_text("utf-8")).json("overview-data")["quality"]
    right = explainer.trace.scores.argmax(dim=1)[karate.test_mask] == karate.y[karate.test_mask]
    assert quality["judged"] == int(karate.test_mask.sum())
    assert quality["accuracy"] == pytest.approx(right.float().mean().item())
    assert np.trace(quality["confusion"]) == right.sum()


def test_a_graph_without_labels_has_a_page(karate, tmp_path):
    classifier = NCGNNClassifier(num_capsules=2, epochs=1, hops=2).fit(karate)
    bare = karate.clone()
    del bare.train_mask
    bare.y[:] = -1
    write_page(tmp_path / "page.html", GraphExplainer(classifier.scored(bare)))
    overview = Elements((tmp_path / "page.html").read_text("utf-8")).json("overview-data")
    assert (overview["quality"], overview["trained"], overview["surprising"]) == (None, None, [])


def test_nodes_that_are_asked_for_are_explained_and_no_others(explainer, tmp_path):
    write_page(tmp_path / "page.html", explainer, ["33", "2"])
    elements = Elements((tmp_path / "page.html").read_text("utf-8"))
    assert sorted(elements.json("views-data")["nodes"]) == ["2", "33"]
    assert len(elements.json("overview-data")["places"]) == 34


def test_of_a_large_graph_neighbours_that_are_not_on_the_map_are_known_too(explainer, tmp_path, monkeypatch):
    monkeypatch.setattr(write, "choose", lambda predictions, wanted=None: choose(predictions, wanted, most=20))
    write_page(tmp_path / "page.html", explainer)
    elements = Elements((tmp_path / "page.html").read_text("utf-8"))
    overview, views = elements.json("overview-data"), elements.json("views-data")
    assert len(overview["places"]) == len(views["nodes"]) == 20
    assert len(overview["nodes"]["id"]) == len(set(overview["nodes"]["id"])) > 20
    places = [place for view in views["nodes"].values() for place, *_ in view["neighbours"]]
    assert max(places) == len(overview["nodes"]["id"]) - 1


def test_a_page_that_cannot_be_written_is_said_before_the_work(explainer, tmp_path):
    def never(views, total):
        pytest.fail("nodes were explained")

    with pytest.raises(InputError, match=r"nowhere.*cannot be written"):
        write_page(tmp_path / "nowhere" / "page.html", explainer, track=never)


def test_a_page_that_fails_halfway_leaves_the_old_one(explainer, tmp_path):
    def fail(views, total):
        next(iter(views))
        raise RuntimeError

    (tmp_path / "page.html").write_text("old")
    with pytest.raises(RuntimeError):
        write_page(tmp_path / "page.html", explainer, track=fail)
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]
    assert (tmp_path / "page.html").read_text() == "old"


def test_a_served_page_has_no_reasons_and_may_ask_its_own_server(explainer):
    elements = Elements(served_page(explainer))
    assert elements.json("views-data") is None
    assert "connect-src 'self'" in next(a["content"] for _, a in elements.found if "http-equiv" in a)


@pytest.fixture(scope="module")
def cora() -> tuple[Data, GraphExplainer]:
    data = usual_split(load_dataset("cora"))
    return data, GraphExplainer(NCGNNClassifier(epochs=2, beta=5.0, normalize_features=True).fit_scored(data))


def test_the_page_of_cora_s_nodes_is_under_6_mb(cora, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "ncgnn.page.table.places", lambda capsules: np.full((len(capsules), 2), 555)
    )  # t-SNE takes long
    monkeypatch.setattr("ncgnn.page.overview.audited", lambda explainer: "")
    data, explainer = cora
    sizes = []
    for sample in ([0], range(0, 2708, 40)):
        write_page(tmp_path / "page.html", explainer, [data.node_ids[node] for node in sample])
        sizes.append((tmp_path / "page.html").stat().st_size)
    a_node = (sizes[1] - sizes[0]) / 67
    assert sizes[0] + 2708 * a_node < 6e6
