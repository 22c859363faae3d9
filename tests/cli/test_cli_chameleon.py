"""The page of Chameleon, from the command line: one node is recognised by whom it links to, another by content."""

import json

import pandas as pd
import pytest

from helpers.elements import Elements

pytestmark = pytest.mark.long

CONFIG = """
hops = [1, 2, 3]
num_capsules = 4
primary_channels = 32
class_channels = 8
iterations = 2
beta = 1.0
dropout = 0.5
lr = 0.01
weight_decay = 1e-5
m_minus = 0.15
epochs = 60
groups = [{ reads = "links", edges = "out", hops = [0] }]
"""


def test_a_node_is_recognised_by_whom_it_links_to_and_another_by_content(ncgnn, benchmark, here):
    (here / "two-groups.toml").write_text(CONFIG)
    done = ncgnn("train", "chameleon", "--config", "two-groups.toml", "--out", "run")
    assert done.code == 0, done.err
    assert "of the test nodes have a copy with the same neighbours in training or validation" in done.out
    assert ncgnn("explain", "run", "--page", "page.html").code == 0
    elements = Elements((here / "page.html").read_text("utf-8"))
    overview, views = elements.json("overview-data"), elements.json("views-data")["nodes"]
    predictions = pd.read_csv("run/predictions.csv", dtype={"id": str})
    assert [group["name"] for group in overview["groups"]] == ["features", "links (out)"]
    for group in overview["groups"]:
        assert group["main"] > 0
        seen = [predictions.loc[place] for place in group["nodes"]]
        assert all(row["split"] != "train" for row in seen)
        assert any(row["split"] == "test" and row["predicted"] == row["label"] for row in seen), group["name"]
        for place in group["nodes"]:
            parts = {part[0]: part[1] for part in views[str(place)]["groups"]}
            assert max(parts, key=parts.__getitem__) == group["name"]
    by_links = [str(predictions["id"][place]) for place in overview["groups"][1]["nodes"]]
    explained = json.loads(ncgnn("explain", "run", "--node", by_links[0], "--json").out)
    assert "its own links to “" in json.dumps(explained, ensure_ascii=False)
