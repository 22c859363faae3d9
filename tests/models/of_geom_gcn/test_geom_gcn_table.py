import numpy as np
import pytest

import ncgnn
from helpers.tiny_graph import plain, tiny
from ncgnn.data import complete
from ncgnn.models.base.cached import write_cached
from ncgnn.models.base.neighbours import plain_adjacency
from ncgnn.models.geom_gcn import table as module
from ncgnn.models.geom_gcn.table import closest_pairs, neighbourhoods, own_neighbourhoods, relations

PLACES = np.array([[0, 0], [1, 2], [2, -1], [-1, 1], [0.1, 0.1], [5, 5]])


def test_relations_are_the_four_directions():
    found = relations(PLACES, np.array([[0, 1], [0, 2], [0, 3], [1, 0], [2, 0]]))
    assert found.tolist() == [3, 2, 1, 0, 1]


def test_closest_pairs_are_those_of_all_distances():
    places = np.random.default_rng(0).normal(size=(60, 2))
    apart = np.linalg.norm(places[:, None] - places, axis=2)
    i, j = np.triu_indices(60, 1)
    order = np.argsort(apart[i, j])[:100]
    assert {tuple(pair) for pair in closest_pairs(places, 100)} == set(zip(i[order], j[order], strict=True))


def test_nodes_at_one_place_do_not_exceed_the_number():
    assert len(closest_pairs(np.zeros((20, 2)), 30)) == 30
    assert len(closest_pairs(np.zeros((3, 2)), 30)) == 3


def test_a_table_has_the_edges_and_as_many_close_pairs():
    table = own_neighbourhoods(plain_adjacency(tiny()), lambda a: PLACES)
    in_graph, in_plane = table[table[:, 2] == 0], table[table[:, 2] == 1]
    assert {tuple(row) for row in in_graph[:, :2]} == {tuple(pair) for pair in np.argwhere(plain().numpy())}
    assert len(in_plane) == len(in_graph) == 10
    assert {(0, 4), (4, 0), (0, 3), (3, 4)} <= {tuple(row) for row in in_plane[:, :2]}
    back = {(v, u): relation for u, v, _, relation in table.tolist()}
    assert all(back[u, v] == 3 - relation for u, v, _, relation in table.tolist())


def test_our_own_are_kept_in_the_cache_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("NCGNN_CACHE", str(tmp_path))
    data = complete(ncgnn.load_dataset("karate"))
    first = neighbourhoods(data, "isomap")
    monkeypatch.setitem(module.EMBEDDINGS, "isomap", lambda a: 1 / 0)
    assert np.array_equal(neighbourhoods(data, "isomap"), first)
    assert len(list((tmp_path / "neighbourhoods").iterdir())) == 1


@pytest.mark.parametrize(("column", "value"), [(1, 34), (0, -1), (2, 2), (3, 4)])
def test_kept_neighbours_that_there_are_not_are_found_again_with_a_note(tmp_path, monkeypatch, column, value):
    monkeypatch.setenv("NCGNN_CACHE", str(tmp_path))
    data = complete(ncgnn.load_dataset("karate"))
    first = neighbourhoods(data, "isomap")
    (path,) = (tmp_path / "neighbourhoods").iterdir()
    with np.load(path) as kept:
        key, rows = str(kept["key"]), kept["rows"]
    rows[0, column] = value
    write_cached(path, key, {"rows": rows})
    with pytest.warns(UserWarning, match="preparing it again .it names nodes or relations"):
        assert np.array_equal(neighbourhoods(data, "isomap"), first)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.warns(UserWarning, match="preparing it again"):
        assert np.array_equal(neighbourhoods(data, "isomap"), first)
