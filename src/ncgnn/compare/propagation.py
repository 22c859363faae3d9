"""Label propagation: the graph and the labels alone."""

import numpy as np
import scipy.sparse as sp
from torch_geometric.data import Data

from ncgnn.data.graph import num_classes
from ncgnn.sparse import normalized_adjacency

_SHARES, _STEPS = (0.5, 0.9, 0.99), 50


def propagate(data: Data, seed: int = 0) -> np.ndarray:
    r"""The class of each node [N], by :math:`\mathbf{F} \leftarrow \alpha \tilde{\mathbf{A}} \mathbf{F} + (1 - \alpha)
    \mathbf{Y}` (Zhou et al., 2004), with the :math:`\alpha` that does best on the validation nodes. A node that no
    label reaches has the most frequent class of the training nodes. Nothing is random: ``seed`` is not used."""
    a = normalized_adjacency(data.edge_index, data.num_nodes, data.get("edge_weight"))
    start = _known(data)
    y, val = data.y.numpy(), data.val_mask.numpy()
    found = [_classes(spread(a, start, share), start) for share in _SHARES]
    return max(found, key=lambda predicted: float(np.mean(predicted[val] == y[val])))


def spread(a: sp.csr_array, start: np.ndarray, share: float) -> np.ndarray:
    """Labels after :data:`_STEPS` steps [N, C]."""
    labels = start
    for _ in range(_STEPS):
        labels = share * (a @ labels) + (1 - share) * start
    return labels


def _known(data: Data) -> np.ndarray:
    """The classes of the training nodes as rows with a one [N, C]; zeros for all other nodes."""
    known = np.zeros((int(data.num_nodes or 0), num_classes(data)), dtype=np.float32)
    nodes = data.train_mask.numpy().nonzero()[0]
    known[nodes, data.y.numpy()[nodes]] = 1
    return known


def _classes(labels: np.ndarray, start: np.ndarray) -> np.ndarray:
    reached = labels.any(axis=1)
    classes: np.ndarray = np.where(reached, labels.argmax(axis=1), start.sum(axis=0).argmax())
    return classes
