"""Features in memory-mapped files, and those of a batch."""

import hashlib
import warnings
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from ncgnn.batches.shards import Shards
from ncgnn.batches.written import write_shards
from ncgnn.sparse import CSR


def map_features(folder: str | Path, x: Tensor) -> Tensor:
    """Write features [N, f], dense or ``torch.sparse_csr``, to files, and return them as :func:`mapped_features`."""
    arrays = _arrays(x)
    digest = hashlib.sha256(str([(a.dtype, a.shape) for a in arrays.values()]).encode())
    for array in arrays.values():
        digest.update(array.data)
    rows = x.shape[0]
    write_shards(Path(folder), f"features {x.shape[1]} {digest.hexdigest()}", rows, lambda part: arrays, max(rows, 1))
    return mapped_features(folder)


def mapped_features(folder: str | Path) -> Tensor:
    """Features that :func:`map_features` wrote: a tensor whose pages are read from the files when they are used."""
    shards = Shards(Path(folder))
    tensors = {name: torch.from_numpy(array) for name, array in shards.arrays(0).items()}
    if "dense" in tensors:
        return tensors["dense"]
    size = shards.rows, int(shards.manifest.key.split()[1])
    with warnings.catch_warnings():  # torch announces once that CSR tensors are in beta
        warnings.simplefilter("ignore", UserWarning)
        return torch.sparse_csr_tensor(tensors["indptr"], tensors["indices"], tensors["values"], size=size)


def feature_rows(x: Tensor, nodes: np.ndarray) -> Tensor:
    """The features of some nodes, dense or ``torch.sparse_csr`` as ``x``."""
    if x.layout == torch.strided:
        return x[torch.from_numpy(nodes)]
    return CSR.from_torch(x).take(torch.from_numpy(nodes)).to_torch()


def _arrays(x: Tensor) -> dict[str, np.ndarray]:
    if x.layout == torch.strided:
        return {"dense": x.contiguous().numpy()}
    return {
        "indptr": x.crow_indices().numpy(),
        "indices": x.col_indices().numpy(),
        "values": x.values().numpy(),
    }
