import numpy as np
import pandas as pd
import pytest
import torch

from ncgnn.data import (
    load_dataset,
    published_split,
    read_graph,
    split_fractions,
    split_per_class,
    split_stratified,
    usual_split,
)
from ncgnn.data.graph import make_graph
from ncgnn.errors import InputError


def labelled(sizes: list[int], unlabelled: int = 0, **extra):
    """A graph without edges with so many nodes of each class, in mixed order."""
    in_order = np.repeat(np.arange(-1, len(sizes)), [unlabelled, *sizes])
    y = torch.from_numpy(np.random.default_rng(1).permutation(in_order))
    names = [chr(ord("a") + c) for c in range(len(sizes))]
    empty = torch.zeros(2, 0, dtype=torch.long)
    return make_graph("toy", torch.ones(len(y), 1), empty, y, class_names=names, **extra)


def masks(data):
    return data.train_mask, data.val_mask, data.test_mask


def test_each_class_trains_with_the_asked_number_of_nodes():
    data = split_per_class(labelled([30, 50, 25], unlabelled=10), train=20, val=15)
    assert torch.bincount(data.y[data.train_mask]).tolist() == [20, 20, 20]
    assert int(data.val_mask.sum()) == 15
    assert int(data.test_mask.sum()) == 30 + 50 + 25 - 60 - 15


@pytest.mark.parametrize("split", [lambda d: split_per_class(d, 5, 7), split_fractions, split_stratified])
def test_masks_part_the_labelled_nodes(split):
    data = split(labelled([20, 30], unlabelled=9))
    together = torch.stack(masks(data)).sum(dim=0)
    assert torch.equal(together, (data.y >= 0).long())


@pytest.mark.parametrize("split", [split_fractions, split_stratified, lambda d, seed: split_per_class(d, 5, 5, seed)])
def test_a_seed_fixes_the_split_and_another_changes_it(split):
    data = labelled([40, 40])
    first, again, other = split(data, seed=3), split(data, seed=3), split(data, seed=4)
    assert torch.equal(first.train_mask, again.train_mask)
    assert not torch.equal(first.train_mask, other.train_mask)


def test_fractions_are_of_the_labelled_nodes():
    data = split_fractions(labelled([60, 40], unlabelled=300), train=0.25, val=0.25)
    assert [int(mask.sum()) for mask in masks(data)] == [25, 25, 50]


def test_stratified_shares_are_of_each_class_and_a_small_one_still_trains():
    data = split_stratified(labelled([50, 10, 1], unlabelled=9), train=0.6, val=0.2)
    shares = [torch.bincount(data.y[mask], minlength=3).tolist() for mask in masks(data)]
    assert shares == [[30, 6, 1], [10, 2, 0], [10, 2, 0]]


def test_stratified_shares_that_leave_nothing_for_validation():
    with pytest.raises(InputError, match=r"val=0.2 of 2 labelled nodes rounds to zero"):
        split_stratified(labelled([1, 1]))


def test_the_usual_split_follows_the_graph():
    columns = torch.eye(4, dtype=torch.bool)
    published = labelled([2, 2], train_mask=columns, val_mask=columns, test_mask=columns)
    assert torch.equal(usual_split(published, seed=2).train_mask, columns[:, 2])
    data = labelled([400, 400])
    for name, sizes in (("syn-cora:0.5", [200, 200, 400]), ("cora", [40, 500, 260]), ("mine", [480, 160, 160])):
        data.name = name
        assert [int(mask.sum()) for mask in masks(usual_split(data))] == sizes


def test_splitting_leaves_the_given_graph_alone_and_shares_its_tensors():
    data = labelled([10, 10])
    out = split_fractions(data)
    assert "train_mask" not in data
    assert out.x is data.x


def test_a_published_split_is_a_column_of_the_masks():
    columns = torch.eye(4, dtype=torch.bool)
    data = labelled([2, 2], train_mask=columns, val_mask=columns.roll(1, 0), test_mask=columns.roll(2, 0))
    out = published_split(data, 1)
    assert out.train_mask.tolist() == [False, True, False, False]
    assert out.val_mask.tolist() == [False, False, True, False]
    assert data.train_mask.shape == (4, 4)


@pytest.mark.parametrize("index", [-1, 4])
def test_a_published_split_that_does_not_exist(index):
    columns = torch.eye(4, dtype=torch.bool)
    data = labelled([2, 2], train_mask=columns, val_mask=columns, test_mask=columns)
    with pytest.raises(InputError, match=f"split {index} does not exist.*0 to 3"):
        published_split(data, index)


def test_a_graph_without_published_splits():
    with pytest.raises(InputError, match="'toy' has no published split"):
        published_split(labelled([2, 2]), 0)


def test_a_class_that_is_too_small_is_named_with_its_size():
    with pytest.raises(InputError, match="class 'b' has 3 labelled nodes, but train=20"):
        split_per_class(labelled([30, 3]))


def test_too_few_nodes_for_validation():
    with pytest.raises(InputError, match=r"val=500.*only 10 labelled nodes are left"):
        split_per_class(labelled([25, 25]))


@pytest.mark.parametrize("split", [split_per_class, split_fractions, split_stratified])
@pytest.mark.parametrize("sizes", [[], [30]])
def test_one_class_is_not_enough(split, sizes):
    with pytest.raises(InputError, match="two"):
        split(labelled(sizes, unlabelled=5))


@pytest.mark.parametrize(("train", "val"), [(0, 0.2), (0.8, 0.3), (1.2, 0), (0.5, -0.1), (0.001, 0.5)])
def test_impossible_fractions(train, val):
    with pytest.raises(InputError, match="train"):
        split_fractions(labelled([10, 10]), train, val)


def test_impossible_shares_of_each_class():
    with pytest.raises(InputError, match=r"train=0.8 and val=0.3"):
        split_stratified(labelled([10, 10]), 0.8, 0.3)


@pytest.mark.parametrize(("train", "val"), [(0, 10), (5, -1)])
def test_impossible_counts(train, val):
    with pytest.raises(InputError, match=f"train={train} and val={val}"):
        split_per_class(labelled([10, 10]), train, val)


def test_a_class_with_a_name_and_no_node_takes_no_part_in_shares():
    data = load_dataset("karate")
    data.class_names = [*data.class_names, "nobody"]
    split = split_stratified(data)
    assert set(data.y[split.train_mask].tolist()) == set(data.y.tolist())


def test_tables_are_not_split_by_a_rule_for_the_graph_they_are_called_after():
    nodes = pd.DataFrame({"id": range(40), "v": np.linspace(0, 1, 40), "y": ["a", "b"] * 20})
    data = read_graph(nodes, pd.DataFrame({"source": [0], "target": [1]}), label="y")
    data.name = "cora"
    assert int(usual_split(data).train_mask.sum()) == 24
