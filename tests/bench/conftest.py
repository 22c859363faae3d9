import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from torch_geometric.data import Data

from ncgnn.data import load_dataset, usual_split
from ncgnn.train.reproducible import use_threads

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # for the folder benchmarks


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    with use_threads(1):
        yield


@pytest.fixture
def karate() -> Data:
    return usual_split(load_dataset("karate"))


@pytest.fixture
def stamp() -> dict[str, object]:
    """The columns of a machine, made up."""
    where = {"date": "2000-01-01", "cpu": "abacus", "cores": 2, "load": 0.1, "threads": 1, "python": "3", "torch": "2"}
    return where | {"torch_geometric": "2", "numba": "0", "ncgnn": "0", "commit": "abc"}
