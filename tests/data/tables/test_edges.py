import pandas as pd
import pytest

from ncgnn.data import read_graph
from ncgnn.errors import InputError

NODES = pd.DataFrame({"id": ["a", "b", "c"], "f": [0, 1, 1]})


def weights(directions, **options):
    edges = pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"], "w": [2.0, 3.0], "kind": directions})
    return read_graph(NODES, edges, weight="w", direction="kind", **options).edge_weight.tolist()


@pytest.mark.parametrize("one", ["Directed", "->", "<-", "out", "in", ""])
@pytest.mark.parametrize("both", ["Undirected", "<->", "both", "--", "mutual"])
def test_an_edge_that_holds_both_ways_weighs_as_two(one, both):
    assert weights([one, both]) == [2, 2, 6, 6]


def test_two_rows_say_the_same_as_one_that_holds_both_ways():
    rows = [("a", "b", 2.0), ("b", "c", 3.0), ("c", "b", 3.0)]
    data = read_graph(NODES, pd.DataFrame(rows, columns=["source", "target", "w"]), weight="w")
    assert data.edge_weight.tolist() == weights(["->", "<->"])


def test_another_word_is_named():
    with pytest.raises(InputError, match="edge table, column 'kind', row 2: 'up' is not a direction; write directed"):
        weights(["->", "up"])


def test_without_weights_a_direction_says_nothing():
    edges = pd.DataFrame({"source": ["a"], "target": ["b"], "kind": ["->"]})
    with pytest.raises(InputError, match="edge table: edge directions only affect weights"):
        read_graph(NODES, edges, direction="kind")
