import numpy as np
import pytest
from torch_geometric.data import Data

from helpers.clean_graph import make_clean, undirected
from ncgnn.data import split_stratified


@pytest.fixture
def clean() -> Data:
    """A graph in which nothing is wrong, with a split."""
    return split_stratified(make_clean(), seed=1)


@pytest.fixture
def edges(clean) -> np.ndarray:
    return undirected(clean)
