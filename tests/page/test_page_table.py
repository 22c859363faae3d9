import numpy as np
import pytest

from ncgnn.page.table import WIDTH, places


@pytest.mark.parametrize("shape", [(1, 4), (3, 4), (4, 1), (30, 8)])
def test_every_node_has_a_place_on_the_plane(shape):
    found = places(np.random.default_rng(0).normal(size=shape).astype(np.float32))
    assert found.shape == (shape[0], 2)
    assert found.min() >= 0
    assert found.max() <= WIDTH


def test_nodes_that_are_alike_are_near_to_each_other():
    rng = np.random.default_rng(0)
    found = places(np.concatenate([rng.normal(0, 0.1, (20, 4)), rng.normal(9, 0.1, (20, 4))]).astype(np.float32))
    inside = np.linalg.norm(found[:20] - found[:20].mean(axis=0), axis=1).mean()
    assert np.linalg.norm(found[:20].mean(axis=0) - found[20:].mean(axis=0)) > 2 * inside


def test_the_map_is_the_same_each_time():
    vectors = np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32)
    assert (places(vectors) == places(vectors)).all()
