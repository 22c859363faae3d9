"""Fingerprint of a graph."""

import hashlib
import json

import numpy as np
from torch_geometric.data import Data

from ncgnn.data.graph import feature_matrix
from ncgnn.data.named.directed import LINKS
from ncgnn.data.named.registry import find_info
from ncgnn.data.tables.standardise import unscaled


def fingerprint(data: Data) -> str:
    """A hash of features, edges and labels, and of the edge tables of your own graph; independent of how numbers are
    scaled."""
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
    for part in (*parts, *_of_tables(data)):
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()[:16]


def fingerprint_with_split(data: Data) -> str:
    """A hash of the graph and of its training and validation nodes."""
    digest = hashlib.sha256()
    for mask in (data.train_mask, data.val_mask):
        digest.update(mask.numpy().tobytes())
    return fingerprint(data) + digest.hexdigest()


def _of_tables(data: Data) -> list[np.ndarray]:
    """Names, directions and edges of the edge tables; nothing for a named graph, which has them or not as files do."""
    tables = data.get("edge_tables")
    if not tables or (list(tables) == [LINKS] and _is_named(data)):
        return []
    parts = []
    for name, table in sorted(tables.items()):  # the order of tables does not matter
        order = np.lexsort(table.edge_index.numpy()[::-1])
        weight = None if table.edge_weight is None else table.edge_weight.numpy()[order]
        about = json.dumps([name, table.is_directed, len(order), weight is not None])
        parts += [np.frombuffer(about.encode(), np.uint8), table.edge_index.numpy()[:, order]]
        parts += [] if weight is None else [weight]
    return parts


def _is_named(data: Data) -> bool:
    return data.get("encoding") is None and find_info(str(data.get("name", ""))) is not None
