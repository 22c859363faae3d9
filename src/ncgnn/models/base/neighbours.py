"""The plain adjacency matrix: who a node's neighbours are."""

import numpy as np
import scipy.sparse as sp
from torch_geometric.data import Data


def plain_adjacency(data: Data) -> sp.csr_array:
    """The adjacency matrix [N, N] without self-loops and without normalisation; row i lists the sources of edges that
    point to i. Entries are edge weights, or ones; repeated edges add up."""
    source, target = data.edge_index.cpu().numpy()
    given = data.get("edge_weight")
    weight = np.ones(source.size) if given is None else given.detach().cpu().numpy().astype(np.float64)
    between = source != target
    entries = (weight[between], (target[between], source[between]))
    a = sp.coo_array(entries, shape=(data.num_nodes, data.num_nodes)).tocsr()
    a.eliminate_zeros()
    return a
