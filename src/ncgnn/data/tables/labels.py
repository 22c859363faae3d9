"""Convert the label column to class numbers."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from torch import Tensor, from_numpy

from ncgnn.data.tables.columns.values import as_values
from ncgnn.errors import InputError

_MANY = 20  # this many classes are always plausible
_OWN = 0.9  # above this fraction of rows, nearly every row has its own text


def encode_labels(column: pd.Series, class_names: Sequence[str] | None, where: str) -> tuple[Tensor, list[str]]:
    """Class number of every row, -1 for blank labels, and the class names.

    Without ``class_names``, classes are the sorted values of the column, sorted as numbers if all are integers.
    """
    _check_single(column, where)
    text = as_values(column)
    names = [str(name) for name in class_names] if class_names is not None else _sorted(set(text.unique()) - {""})
    codes = pd.Index(names, dtype="str").get_indexer(pd.Index(text)).astype(np.int64)
    unknown = (codes < 0) & (text != "").to_numpy()
    if unknown.any():
        row = int(unknown.argmax())
        raise InputError(
            f"{where}, column {str(column.name)!r}, row {row + 1}: label {text.iloc[row]!r} is not one of the classes"
            f" {', '.join(names)}; leave it blank, or retrain"
        )
    if class_names is None:
        _check_classes(names, int((codes >= 0).sum()), f"{where}, column {str(column.name)!r}")
    return from_numpy(codes), names


def _check_single(column: pd.Series, where: str) -> None:
    """Refuse labels that are lists."""
    first = next(iter(column.dropna()), None)
    if isinstance(first, list | tuple | set | dict | np.ndarray):
        raise InputError(
            f"{where}, column {str(column.name)!r}: has several labels per node, but a node has one class: use a column"
            " with one label per node",
            "label",
        )


def _check_classes(names: Sequence[str], labelled: int, where: str) -> None:
    """Reject label columns of measured numbers, texts or keys."""
    is_text = np.isnan(pd.to_numeric(pd.Series(names), errors="coerce")).any()
    if len(names) <= max(_MANY, labelled * (_OWN if is_text else 0.5)):
        return
    remedy = "" if is_text else ", or replace the numbers by ranges"
    raise InputError(
        f"{where}: {len(names)} different {'values' if is_text else 'numbers'} in {labelled} labelled rows are not"
        f" classes: choose another column{remedy}",
        "label",
    )


def _sorted(names: set[str]) -> list[str]:
    try:
        return sorted(names, key=lambda name: (int(name), name))
    except ValueError:
        return sorted(names)
