import pytest
from torch_geometric.data import Data

from ncgnn.data import load_dataset, split_per_class


@pytest.fixture(scope="session")
def karate() -> Data:
    """Four classes, one split; not to be changed."""
    return split_per_class(load_dataset("karate"), train=3, val=8)
