import numpy as np
import scipy.sparse as sp
import torch

from ncgnn.sparse import normalized_adjacency


def random_graph(n: int, edges: int, seed: int, weighted: bool = False) -> sp.csr_matrix:
    rng = np.random.default_rng(seed)
    pairs = np.unique(np.sort(rng.integers(0, n, (edges, 2)), axis=1), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    weight = torch.from_numpy(rng.random(len(pairs)) + 0.1) if weighted else torch.ones(len(pairs))
    both = np.concatenate([pairs, pairs[:, ::-1]]).T
    return normalized_adjacency(torch.from_numpy(both.copy()), n, torch.cat([weight, weight]))
