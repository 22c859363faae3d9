import numpy as np
import pytest

from helpers.clean_graph import with_edges
from ncgnn.check.duplicates import duplicate_findings, duplicate_groups
from ncgnn.check.view import View


def copy_nodes(data, edges: np.ndarray, count: int, features: bool = True, link: bool = False):
    """Test nodes that become copies of training nodes: their edges are replaced by those of the originals."""
    originals = np.flatnonzero(data.train_mask.numpy())[:count]
    copies = np.flatnonzero(data.test_mask.numpy())[:count]
    kept = edges[~np.isin(edges, [*originals, *copies]).any(axis=1)]
    rng = np.random.default_rng(3)
    others = np.setdiff1d(np.arange(data.num_nodes), [*originals, *copies])
    new = []
    for original, copy in zip(originals, copies, strict=True):
        neighbours = rng.choice(others, 4, replace=False)
        new += [(node, other) for node in (original, copy) for other in neighbours]
        new += [(original, copy)] * link
    out = with_edges(data, np.concatenate([kept, new]))
    if features:
        out.x = data.x.clone()
        out.x[copies] = out.x[originals]
    return out, originals, copies


@pytest.mark.parametrize(("features", "link"), [(True, False), (False, False), (True, True)])
def test_copies_across_the_split_are_serious(clean, edges, features, link):
    data, originals, copies = copy_nodes(clean, edges, 12, features, link)
    (finding,) = duplicate_findings(View.of(data))
    assert (finding.level, finding.count) == ("serious", 24)
    assert finding.first == [f"{copy} = {original}" for copy, original in zip(copies, originals, strict=True)][:5]
    assert f"; 12 of {int(data.test_mask.sum())} test nodes have such a copy in training" in finding.what


def test_few_copies_are_a_note(clean, edges):
    data, *_ = copy_nodes(clean, edges, 1)
    (finding,) = duplicate_findings(View.of(data))
    assert (finding.level, finding.count) == ("note", 2)


def test_without_a_split_copies_are_still_named(clean, edges):
    data, *_ = copy_nodes(clean, edges, 3)
    del data.train_mask
    (finding,) = duplicate_findings(View.of(data))
    assert finding.count == 6
    assert "test" not in finding.what


def test_leaves_of_a_hub_and_members_of_a_clique_are_no_copies(clean):
    leaves = np.array([(0, node) for node in range(1, 100)])
    clique = np.array([(a, b) for a in range(100, 110) for b in range(100, a)])
    data = with_edges(clean, np.concatenate([leaves, clique]))
    assert duplicate_findings(View.of(data)) == []


def test_every_group_has_one_number(clean, edges):
    data, originals, copies = copy_nodes(clean, edges, 5)
    numbers = duplicate_groups(View.of(data))
    assert np.array_equal(numbers[originals], numbers[copies])
    assert len(np.unique(numbers)) == data.num_nodes - 5
