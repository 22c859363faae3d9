"""Which edge tables look as if their links had a direction."""

import numpy as np
import pandas as pd
import pytest

from ncgnn.data import read_graph
from ncgnn.data.graph import merge_edges
from ncgnn.data.tables.one_way import go_one_way

ONE_WAY = np.array([[i, i + 1] for i in range(20)])
BACK = ONE_WAY[:, ::-1]


def goes(pairs, ends=("source", "target")):
    return go_one_way(pairs, 21, len(merge_edges(pairs, 21)[0]), ends)


@pytest.mark.parametrize(
    "ends", [("source", "target"), ("from_id", "to_id"), ("srcIP", "dstIP"), ("Payer", "Payee"), ("cited", "citing")]
)
def test_names_suggest_a_direction(ends):
    assert goes(ONE_WAY, ends)


@pytest.mark.parametrize("ends", [("a", "b"), ("source", "to"), ("person", "friend"), ("product", "target")])
def test_other_names_do_not(ends):
    assert not goes(ONE_WAY, ends)


@pytest.mark.parametrize(("back", "expected"), [(0, True), (1, True), (2, False), (20, False)])
def test_at_most_a_tenth_of_the_links_may_have_a_link_back(back, expected):
    assert goes(np.concatenate([ONE_WAY, ONE_WAY, BACK[:back]])) == expected  # repeated rows count once


def test_a_table_without_links_goes_nowhere():
    assert not goes(ONE_WAY[:0])
    assert not goes(np.array([[1, 1]]))


def test_only_links_read_without_direction_are_marked():
    nodes, edges = pd.DataFrame({"id": range(21), "f": range(21)}), pd.DataFrame(ONE_WAY, columns=["from", "to"])
    assert [role.column for role in read_graph(nodes, edges).roles if role.is_one_way] == ["from"]
    assert not any(role.is_one_way for role in read_graph(nodes, edges, directed=True).roles)
