import pytest
from benchmarks import scaling
from benchmarks.plots import TITLES, draw


@pytest.mark.parametrize("e", [0.5, 1.0, 2.0])
def test_the_exponent_of_a_power_is_found(e):
    sizes = [10, 100, 1000]
    found, c = scaling.exponent(sizes, [3 * size**e for size in sizes])
    assert found == pytest.approx(e)
    assert c == pytest.approx(3)


def test_noise_moves_the_exponent_little():
    assert scaling.exponent([1, 10, 100], [1.1, 9, 110])[0] == pytest.approx(1, abs=0.05)


def test_a_series_varies_one_number_and_is_drawn(tmp_path):
    start = {"nodes": 60, "degree": 4, "capsules": 2, "iterations": 1, "classes": 2}
    rows = scaling.measure({"edges": (2, 4), "classes": (2, 3)}, start, 1, lambda text: None)
    assert [row["series"] for row in rows] == ["edges", "edges", "classes", "classes"]
    assert [row["classes"] for row in rows] == [2, 2, 2, 3]
    assert rows[0]["value"] == rows[0]["edges"] < rows[1]["edges"]
    paths = draw(rows, tmp_path)
    assert [path.name for path in paths] == ["edges.png", "classes.png"]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in paths)


def test_every_series_has_a_title_and_a_start():
    assert set(scaling.VARIED) == set(TITLES)
    assert set(scaling.VARIED) - {"edges"} | {"degree"} == set(scaling.START)
    assert max(scaling.VARIED["nodes"]) == 100_000
    assert max(scaling.LARGE["nodes"]) == 1_000_000
