import numpy as np
import pytest

import ncgnn
from ncgnn.data import complete
from ncgnn.data.fingerprint import fingerprint
from ncgnn.errors import InputError

ROWS = np.array([[0, 1, 0, 3], [1, 0, 0, 0]], np.int32)


@pytest.fixture
def folder(tmp_path):
    ncgnn.save_graph(complete(ncgnn.load_dataset("karate")), tmp_path / "karate.npz")
    (tmp_path / "geom-gcn").mkdir()
    return tmp_path


def test_tables_beside_a_graph_come_with_it_and_do_not_change_it(folder):
    before = ncgnn.load_dataset("karate", folder)
    np.savez(folder / "geom-gcn/karate.npz", isomap=ROWS)
    data = ncgnn.load_dataset("karate", folder)
    assert np.array_equal(data.neighbourhoods["isomap"], ROWS)
    assert "neighbourhoods" not in before
    assert fingerprint(complete(data)) == fingerprint(complete(before))
    assert "neighbourhoods" in ncgnn.split_per_class(complete(data), train=3, val=8)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (ROWS[:, :3], "array 'isomap' must be integers of shape \\(rows, 4\\)"),
        (np.add(ROWS, [34, 0, 0, 0]), "array 'isomap' contains nodes, spaces or relations that do not exist"),
        (np.add(ROWS, [0, 0, 0, 1]), "array 'isomap' contains nodes, spaces or relations that do not exist"),
    ],
)
def test_wrong_tables_are_refused(folder, rows, message):
    np.savez(folder / "geom-gcn/karate.npz", isomap=rows)
    with pytest.raises(InputError, match=message):
        ncgnn.load_dataset("karate", folder)
