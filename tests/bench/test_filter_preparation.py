import numpy as np
import pytest
from benchmarks import filters, large

from ncgnn.bench import random_graph
from ncgnn.sparse import exact_pagerank, normalized_adjacency


@pytest.mark.filterwarnings("ignore")  # of numba, compiling PyG's function
def test_every_way_has_a_row_and_pushing_keeps_its_bound(karate):
    rows = filters.measure(karate, 1, lambda text: None)
    assert [row["by"] for row in rows] == [
        *("NCGNN", "NCGNN, from disk"),
        *("NCGNN", "NCGNN, from disk", "PyG GDC"),
        *("NCGNN", "PyG get_ppr"),
    ]
    assert rows[0]["entries"] == rows[1]["entries"]
    assert {row["entries"] for row in rows[2:5]} == {34 * 34}  # fewer than k nodes: all of them
    for row in rows[5:]:
        assert 0 < float(row["error"]) < row["bound"]


def test_the_rows_that_errors_are_measured_against_are_exact(karate):
    a = normalized_adjacency(karate.edge_index, 34)
    expected = exact_pagerank(a, filters.ALPHA)
    np.testing.assert_allclose(filters.exact_rows(a, np.array([3, 0])), expected[[3, 0]], atol=1e-10)


def test_the_largest_graph_is_done_by_ncgnn_alone():
    rows = large.pagerank(random_graph(60, num_features=1), lambda text: None, with_peer=False)
    assert [row["by"] for row in rows] == ["NCGNN"]
    assert rows[0]["peak_mb"] >= 0
