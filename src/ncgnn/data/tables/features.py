"""Feature columns of a node table: choose an encoding for each, and encode them."""

import warnings
from collections.abc import Mapping
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp
import torch
from pandas.api.types import is_scalar
from torch import Tensor

from ncgnn.data.graph import KEPT_SPARSE_BELOW, feature_tensor
from ncgnn.data.tables.columns import category, number, text
from ncgnn.data.tables.columns.guess import guess_kind
from ncgnn.data.tables.columns.plain import plain_numbers
from ncgnn.data.tables.encoding import Column, Kind
from ncgnn.data.tables.roles import check_column
from ncgnn.errors import InputError

_LEARNT = ", which the model needs (add it, blank where unknown, or retrain)"
Block = Any  # a NumPy array or a scipy.sparse.csr_array


class Encoded(NamedTuple):
    """Features of a table; its numbers before scaling; for each column a description, and notes if the encoding comes
    from another table."""

    x: Tensor
    numbers: Tensor
    details: list[str]
    notes: list[str]


class _Part(NamedTuple):
    block: Block
    detail: str
    note: str = ""
    raw: np.ndarray | None = None


def choose_columns(
    table: pd.DataFrame, kinds: Mapping[str, Kind], where: str
) -> tuple[tuple[Column, ...], dict[str, str]]:
    """An encoding for each column, of the given or inferred kind, and the reasons why others are dropped."""
    plain = plain_numbers(table, [name for name in table.columns if name and kinds.get(name) in (None, "numeric")])
    chosen = {
        name: number.learn_values(name, plain[name]) if name in plain else _choose(table[name], kinds.get(name), where)
        for name in table.columns
    }
    left_out = {name: reason for name, reason in chosen.items() if isinstance(reason, str)}
    for name, reason in left_out.items():
        warnings.warn(f"{where}, column {name!r}: {reason}; dropped", UserWarning, stacklevel=3)
    columns = tuple(column for column in chosen.values() if isinstance(column, Column))
    if not columns:
        raise InputError(
            f"{where}: no feature columns left: add columns that describe the nodes"
            " (numbers, categories, dates or text)"
        )
    return columns, left_out


def encode(table: pd.DataFrame, columns: tuple[Column, ...], where: str) -> Encoded:
    """Features of the rows of ``table``; unknown values become zeros."""
    for column in columns:
        check_column(table, column.name, where, _LEARNT)
    plain = plain_numbers(table, [column.name for column in columns if column.kind == "numeric"])
    parts = [_encode(table, column, where, plain.get(column.name)) for column in columns]
    raw = [part.raw for part in parts if part.raw is not None]
    return Encoded(
        feature_tensor(_stack([part.block for part in parts], len(table))),
        torch.from_numpy(np.column_stack(raw) if raw else np.empty((len(table), 0))),
        [part.detail for part in parts],
        [part.note for part in parts if part.note],
    )


def _choose(column: pd.Series, kind: Kind | None, where: str) -> Column | str:
    _check_scalars(column, where)
    if not str(column.name):
        return "it has no name"
    kind = kind or guess_kind(column, where)
    if kind is None:
        return f"{column.nunique()} different values in {len(column)} rows look like a key"
    if kind == "text":
        return text.learn_words(column) or "all words are too rare or too common"
    learned = category.learn_categories(column) if kind == "categorical" else None
    learned = number.learn_numbers(column, kind, where) if kind in ("numeric", "date") else learned
    return learned or "every value is blank"


def _encode(table: pd.DataFrame, spec: Column, where: str, plain: np.ndarray | None) -> _Part:
    if plain is not None:
        return _numbers(plain, spec, where)
    column = table[spec.name]
    if spec.kind == "text":
        x, known, strange = text.tf_idf(column, spec)
        note = text.note_words(spec, known, strange)
        return _Part(x, text.describe_words(spec, known, strange), _blank(spec) if not known + strange else note)
    if spec.kind == "categorical":
        x, unknown, blank = category.one_hot(column, spec)
        detail = category.describe_categories(spec, unknown, blank)
        note = category.note_categories(spec, unknown)
        return _Part(x, detail, _blank(spec) if blank == len(column) else note)
    return _numbers(number.raw_numbers(column, spec.kind, where), spec, where)


def _numbers(raw: np.ndarray, spec: Column, where: str) -> _Part:
    x = number.scale_numbers(raw, spec, where)[:, None]
    note = _blank(spec) if np.isnan(raw).all() else ""
    return _Part(x, number.describe_numbers(raw, spec.kind), note, raw=None if spec.flag else raw)


def _blank(spec: Column) -> str:
    """A note if a later table has no values at all."""
    return f"column {spec.name!r}: every value is blank"


def _stack(blocks: list[Block], rows: int) -> Block:
    """All blocks side by side, as a sparse matrix only if that is smaller."""
    width = sum(block.shape[1] for block in blocks)
    filled = sum(np.count_nonzero(block) if isinstance(block, np.ndarray) else block.nnz for block in blocks)
    if filled < KEPT_SPARSE_BELOW * rows * width:
        runs = (list(run) for _, run in groupby(blocks, type))
        joined = [np.hstack(run) if isinstance(run[0], np.ndarray) else sp.hstack(run, format="csc") for run in runs]
        return sp.hstack([sp.csc_array(block) for block in joined], format="csr")
    out, start = np.empty((rows, width), np.float32), 0
    for block in blocks:
        out[:, start : start + block.shape[1]] = block if isinstance(block, np.ndarray) else block.toarray()
        start += block.shape[1]
    return out


def _check_scalars(column: pd.Series, where: str) -> None:
    kinds = [type(value) for value in column.dropna().head(1) if not is_scalar(value) or isinstance(value, complex)]
    if kinds:
        raise InputError(
            f"{where}, column {str(column.name)!r}: contains {kinds[0].__name__} values, not numbers or text; use one"
            " column per feature, or ignore this column"
        )
