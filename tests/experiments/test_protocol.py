import pytest
import torch
from torch_geometric.data import Data

from ncgnn.experiments.cells import Cell, all_cells
from ncgnn.experiments.protocol import draw_split


@pytest.fixture
def computers() -> Data:
    """Labels like those of Amazon Computers: ten classes, some small."""
    sizes = torch.tensor([60, 80, 100, 120, 150, 200, 300, 400, 500, 900])
    return Data(y=torch.arange(10).repeat_interleave(sizes), num_nodes=int(sizes.sum()), name="amazon-computers")


@pytest.mark.parametrize("per_class", [5, 10, 30])
def test_table_7_trains_with_as_many_labels_a_class_as_it_says(computers, per_class):
    split = draw_split(computers, Cell("7", "amazon-computers", f"{per_class} per class", "NCGNN-A"), 0)
    assert torch.bincount(split.y[split.train_mask]).tolist() == [per_class] * 10
    assert split.val_mask.sum() == 500
    assert (split.train_mask.int() + split.val_mask.int() + split.test_mask.int() == 1).all()


def test_the_labels_of_table_7_are_those_of_its_three_columns():
    assert {cell.setting for cell in all_cells() if cell.table == "7"} == {f"{n} per class" for n in (5, 10, 30)}


def test_all_models_of_a_cell_get_the_same_splits_and_each_split_is_another(computers):
    ncgnn, gcn = (Cell("7", "amazon-computers", "5 per class", model) for model in ("NCGNN-A", "GCN"))
    splits = [draw_split(computers, ncgnn, number) for number in range(5)]
    for number, split in enumerate(splits):
        assert torch.equal(split.train_mask, draw_split(computers, gcn, number).train_mask)
    assert len({tuple(split.train_mask.tolist()) for split in splits}) == 5
