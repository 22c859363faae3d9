import pytest
import torch

from ncgnn.data import read_graph, standardise, usual_split
from ncgnn.tune.splits import hidden_splits


@pytest.fixture
def own_tables(tmp_path):
    """Forty nodes with a number each, which is larger in one class."""
    rows = [f"n{i},{'ab'[i % 2]},{1000 * (i % 2) + i}" for i in range(40)]
    (tmp_path / "nodes.csv").write_text("\n".join(["id,label,size", *rows]) + "\n")
    edges = [f"n{i},n{(i + 1) % 40}" for i in range(40)]
    (tmp_path / "edges.csv").write_text("\n".join(["source,target", *edges]) + "\n")
    return read_graph(tmp_path / "nodes.csv", tmp_path / "edges.csv", id="id", label="label")


def test_numbers_are_scaled_by_the_training_nodes_of_each_split_as_in_training(own_tables):
    found = hidden_splits(own_tables, 2)
    for number, split in enumerate(found):
        assert torch.equal(split.x.to_dense(), standardise(usual_split(own_tables, number)).x.to_dense())
    assert not torch.equal(found[0].x.to_dense(), found[1].x.to_dense())
