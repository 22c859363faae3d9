"""Features for generated graphs: rows of a real graph, or words from a topic model."""

import numpy as np
import scipy.sparse as sp
from torch_geometric.data import Data

from ncgnn.data.graph import feature_matrix

# Cora's vocabulary and mean number of words
_WORDS, _LENGTH = 1433, 18


def fits(bank: Data, y: np.ndarray) -> bool:
    """Whether each class of ``y`` finds enough rows in the class of ``bank`` with the same rank by size."""
    have, need = -np.sort(-_sizes(bank)), -np.sort(-np.bincount(y))
    return len(have) >= len(need) and bool((have[: len(need)] >= need).all())


def draw_rows(bank: Data, y: np.ndarray, rng: np.random.Generator) -> sp.csr_array:
    """A row of ``bank`` for each node, drawn without replacement from the class of the same rank by size."""
    ranks = zip(_by_size(np.bincount(y)), _by_size(_sizes(bank)), strict=False)
    rows = np.empty(len(y), np.int64)
    for own, theirs in ranks:
        members = np.flatnonzero(y == own)
        rows[members] = rng.permutation(np.flatnonzero(bank.y.numpy() == theirs))[: len(members)]
    return feature_matrix(bank.x)[rows]


def topic_model(y: np.ndarray, rng: np.random.Generator) -> sp.csr_array:
    """Binary bags of words: half of a node's words from all classes' common words, half from its class's own.

    Common words follow Zipf's law; a class's distribution is a Dirichlet draw around it.
    """
    zipf = 1 / np.arange(1, _WORDS + 1)
    common = zipf / zipf.sum()
    lengths = 1 + rng.poisson(_LENGTH - 1, size=len(y))
    rows, own = np.repeat(np.arange(len(y)), lengths), np.repeat(y, lengths)
    words = rng.choice(_WORDS, size=len(rows), p=common)
    for topic in range(y.max() + 1):
        special = np.flatnonzero((own == topic) & (rng.random(len(rows)) < 0.5))
        words[special] = rng.choice(_WORDS, size=len(special), p=rng.dirichlet(100 * common))
    x = sp.csr_array((np.ones(len(rows), np.float32), (rows, words)), shape=(len(y), _WORDS))
    x.data[:] = 1
    return x


def _sizes(graph: Data) -> np.ndarray:
    return np.bincount(graph.y[graph.y >= 0].numpy())


def _by_size(sizes: np.ndarray) -> np.ndarray:
    return np.argsort(-sizes, kind="stable")
