import pytest
import torch
from torch_geometric.data import Data

from helpers.small_search import karate_with_splits
from ncgnn.data import load_dataset, syn_cora
from ncgnn.experiments import protocol
from ncgnn.experiments.cells import Cell, all_cells
from ncgnn.experiments.protocol import draw_split, version_at_hand, without_edges


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


def version(monkeypatch, data) -> str:
    """Of a graph that is loaded as "club"."""
    monkeypatch.setattr(protocol, "load_dataset", lambda name: data)
    protocol._loaded.cache_clear()
    try:
        return version_at_hand("club")
    finally:
        protocol._loaded.cache_clear()


def test_the_same_graph_has_the_same_version(monkeypatch):
    first, again = (version(monkeypatch, load_dataset("karate")) for _ in range(2))
    assert first == again
    assert len(first) == 12


@pytest.mark.parametrize("part", ["x", "y", "edge_index", "train_mask"])
def test_another_part_makes_another_version(monkeypatch, part):
    data, other = karate_with_splits(), karate_with_splits()
    if part == "edge_index":
        other.edge_index = other.edge_index[:, (other.edge_index != 33).all(dim=0)]
    else:
        other[part] = torch.roll(other[part].to_dense(), 1, dims=0)
    assert version(monkeypatch, data) != version(monkeypatch, other)


def test_a_synthetic_graph_with_the_features_of_a_real_one_is_another_graph(monkeypatch):
    generated = syn_cora(0.5, num_nodes=10, num_classes=2)
    with_features = syn_cora(0.5, num_nodes=10, num_classes=2, features=load_dataset("karate"))
    assert torch.equal(generated.edge_index, with_features.edge_index)
    assert version(monkeypatch, generated) != version(monkeypatch, with_features)


def pairs(data: Data) -> set[tuple[int, int]]:
    return {(min(pair), max(pair)) for pair in data.edge_index.t().tolist()}


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_a_share_of_the_edges_is_removed_in_both_directions(share):
    data = load_dataset("karate")
    damaged = without_edges(data, share, 0)
    assert len(pairs(damaged)) == len(pairs(data)) - round(share * len(pairs(data)))
    assert pairs(damaged) < pairs(data)
    assert damaged.edge_index.shape[1] == 2 * len(pairs(damaged))


def test_each_seed_removes_other_edges_and_the_same_seed_the_same():
    data = load_dataset("karate")
    first, again, other = (pairs(without_edges(data, 0.3, seed)) for seed in (0, 0, 1))
    assert first == again != other
    assert without_edges(data, 0.0, 0) is data
