"""Fingerprint of a graph."""

import hashlib

import numpy as np
from torch_geometric.data import Data

from ncgnn.data.graph import feature_matrix
from ncgnn.data.tables.standardise import unscaled


def fingerprint(data: Data) -> str:
    """A hash of features, edges and labels; independent of how numbers are scaled."""
    x = feature_matrix(unscaled(data).x)
    order = np.lexsort(data.edge_index.numpy()[::-1])  # the order of edges does not matter
    weight = data.get("edge_weight")
    parts = [
        x.indptr.astype(np.int64),
        x.indices.astype(np.int64),
        x.data,
        data.edge_index.numpy()[:, order],
        data.y.numpy(),
    ]
    parts += [] if weight is None else [weight.numpy()[order]]
    digest = hashlib.sha256(str([x.shape, *(part.shape for part in parts)]).encode())
    for part in parts:
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()[:16]
