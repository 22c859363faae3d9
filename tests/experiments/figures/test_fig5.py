import numpy as np
import pandas as pd
import pytest

from ncgnn.errors import InputError
from ncgnn.experiments.figures import fig5
from ncgnn.experiments.figures.fig5 import GCN_2, GCN_5, NCGNN_5, choose_node


def marks(text: str) -> np.ndarray:
    return np.array([letter == "x" for letter in text])


def test_the_node_is_the_surest_that_the_others_get_wrong():
    right = {GCN_2: marks("x....."), GCN_5: marks(".x...."), NCGNN_5: marks("xxxx.x")}
    sureness = np.array([0.99, 0.98, 0.5, 0.7, 0.97, 0.96])
    assert choose_node(marks("xxxxx."), right, sureness) == 3
    with pytest.raises(InputError, match="fig5 needs a test node that both GCNs get wrong"):
        choose_node(marks("xx...."), right, sureness)


@pytest.fixture
def tables(quick):
    steps = []
    found = fig5.measure(lambda: steps.append(1), "syn-cora:0.5")
    assert len(steps) == fig5.STEPS
    return found


def test_what_is_measured_fits_together_and_is_drawn(tables):
    assert {name: set(columns) <= set(tables[name]) for name, columns in fig5.COLUMNS.items()} == dict.fromkeys(
        fig5.COLUMNS, True
    )
    assert tables["hops"]["hop"].tolist() == [1, 2, 3, 4, 5]
    assert tables["hops"]["attention"].sum() == pytest.approx(1, abs=1e-5)
    table = tables["probabilities"]
    assert table.groupby("model")["probability"].sum().tolist() == pytest.approx([1] * 4, abs=1e-4)
    best = table.loc[table.groupby("model")["probability"].idxmax()].set_index("model")
    is_right = best["class"] == best["label"]
    assert (is_right[NCGNN_5], is_right[GCN_2], is_right[GCN_5]) == (True, False, False)
    counts = tables["agreement"].drop(columns="model").sum(axis=1)
    assert counts.nunique() == 1
    assert tables["nodes"].groupby("panel")["distance"].max()["GCN (2-hop)"] <= 2
    assert tables["nodes"].groupby("panel").size().max() <= 33
    assert len(fig5.draw(tables).axes) == 6
    assert f"{tables['agreement']['only_ncgnn'][0]} are right with NCGNN-A only" in fig5.caption(tables)


def test_a_node_stands_on_the_ring_of_its_distance_beyond_its_parent():
    nodes = pd.DataFrame({"node": ["a", "b", "c", "d", "e"], "distance": [0, 1, 1, 2, 3]})
    edges = pd.DataFrame({"source": ["a", "c", "d"], "target": ["b", "a", "c"]})
    at = fig5.positions(nodes, edges)
    assert {node: round(float(np.hypot(*place))) for node, place in at.items()} == dict(
        zip(nodes["node"], nodes["distance"], strict=True)
    )
    np.testing.assert_allclose(at["d"], 2 * np.array(at["c"]))  # an only child is straight behind
    assert len({tuple(np.round(place, 6)) for place in at.values()}) == 5
