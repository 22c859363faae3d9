"""How good a model is on test nodes that have a copy among the training or validation nodes, and on the others."""

from dataclasses import dataclass

import numpy as np
from torch_geometric.data import Data

from ncgnn.check.duplicates import copied_test_nodes
from ncgnn.check.view import View


@dataclass(frozen=True)
class Copies:
    """The number of test nodes with a copy, the accuracy on them and on the others; ``None`` if there are no others."""

    nodes: int
    accuracy: float
    others: float | None


def copies(data: Data, predicted: np.ndarray) -> Copies | None:
    """Of a complete graph, ``predicted`` by class number [N]; ``None`` if too few test nodes have a copy to matter."""
    view = View(data, "test_mask" in data)
    found = copied_test_nodes(view)
    if not len(found):
        return None
    right = view.y == predicted
    others = np.setdiff1d(np.flatnonzero(view.members("test")), found)
    return Copies(len(found), float(right[found].mean()), float(right[others].mean()) if len(others) else None)
