"""Scale numbers with statistics of the training nodes, or as in an earlier encoding."""

from copy import copy

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch_geometric.data import Data

from ncgnn.data.graph import feature_matrix, feature_tensor
from ncgnn.data.tables.columns.number import mean_and_scale, scale_numbers
from ncgnn.data.tables.encoding import Column, Encoding
from ncgnn.errors import InputError


def standardise(data: Data) -> Data:
    """The graph with numbers and dates scaled by mean and deviation of its training nodes, stored in ``data.encoding``.

    A column that is constant or missing on all training nodes keeps mean and scale of the whole table. Graphs that are
    not from tables are unchanged.
    """
    encoding, mask = data.get("encoding"), data.get("train_mask")
    if encoding is None or data.get("numbers") is None or mask is None or mask.dim() != 1:
        return data
    raw = _by_name(encoding, data.numbers[mask])
    columns = [_learn(column, raw[column.name]) if column.name in raw else column for column in encoding.columns]
    return with_encoding(data, encoding.model_copy(update={"columns": tuple(columns)}))


def with_encoding(data: Data, encoding: Encoding) -> Data:
    """The graph with its numbers scaled as in ``encoding``, which must have the same features."""
    own, numbers = data.get("encoding"), data.get("numbers")
    if own is None or numbers is None or own.columns == encoding.columns:
        return data
    _check_alike(own, encoding)
    raw = _by_name(own, numbers)
    places, values, place = [], [], 0
    for column in encoding.columns:
        if column.is_number and column.name in raw:
            places.append(place)
            values.append(scale_numbers(raw[column.name], column, "node table"))
        place += column.width
    out = copy(data)
    out.x = _replaced(data.x, places, np.array(values)) if places else data.x
    out.encoding = encoding
    return out


def unscaled(data: Data) -> Data:
    """The graph with its original, unscaled numbers."""
    encoding = data.get("encoding")
    if encoding is None:
        return data
    plain = [c.model_copy(update={"mean": 0.0, "scale": 1.0}) if c.is_number else c for c in encoding.columns]
    return with_encoding(data, encoding.model_copy(update={"columns": tuple(plain)}))


def _by_name(encoding: Encoding, numbers: Tensor) -> dict[str, np.ndarray]:
    return dict(zip((column.name for column in encoding.scaled), numbers.numpy().T, strict=True))


def _learn(column: Column, values: np.ndarray) -> Column:
    values = values[~np.isnan(values)]
    if not len(values) or values.min() == values.max():
        return column
    mean, scale = mean_and_scale(values)
    return column.model_copy(update={"mean": mean, "scale": scale})


def _replaced(x: Tensor, places: list[int], values: np.ndarray) -> Tensor:
    """``x`` with the columns at ``places`` replaced by the rows of ``values``."""
    if x.layout == torch.strided:
        out = x.clone()
        out[:, places] = torch.from_numpy(values.T).to(x.dtype)
        return out
    kept = np.ones(x.shape[1], np.float32)
    kept[places] = 0
    entries = (values.ravel(), (np.tile(np.arange(x.shape[0]), len(places)), np.repeat(places, x.shape[0])))
    return feature_tensor(feature_matrix(x) @ sp.diags_array(kept) + sp.csr_array(entries, shape=tuple(x.shape)))


def _check_alike(own: Encoding, other: Encoding) -> None:
    """Check that columns are equal except for the mean and scale of numbers."""
    learned = {column.name: (column.kind, column.flag, column.idf) for column in other.columns}
    for column in own.columns:
        found = (column.kind, column.flag, column.idf)
        if learned.get(column.name, found) != found:
            raise InputError(
                f"column {column.name!r} was encoded differently in training: read the graph with"
                " encoding=classifier.encoding_"
            )
