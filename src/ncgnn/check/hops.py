"""How far the rows of a filter may reach, so that all of them can be computed."""

import numpy as np
import scipy.sparse as sp
from torch_geometric.data import Data

MOST_WORK = 50_000
"""Products for a row of one hop that are affordable, on average: about a millisecond."""

_ROWS = 32
"""Of the graph that the average is taken over."""


def affordable_hops(data: Data, hops: list[int]) -> list[int]:
    """The hops whose rows take no more products than are affordable; rows of hops 0 and 1 always are."""
    nodes = int(data.num_nodes or 0)
    source, target = data.edge_index.numpy()
    degree = np.bincount(source, minlength=nodes)
    row = np.unique(np.linspace(0, nodes - 1, _ROWS).astype(np.int64))
    a = sp.csr_array((np.ones(len(source), bool), (source.astype(np.int32), target.astype(np.int32))), (nodes, nodes))
    reached = sp.csr_array((np.ones(len(row), bool), (np.arange(len(row)), row)), (len(row), nodes))
    farthest = 1
    for hop in range(2, max(hops) + 1):
        reached = reached + reached @ a
        if degree[reached.indices].sum() > MOST_WORK * len(row):
            break
        farthest = hop
    return [hop for hop in hops if hop <= farthest]
