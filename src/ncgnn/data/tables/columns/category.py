"""Columns of categories: one feature each."""

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ncgnn.data.tables.columns.values import as_values
from ncgnn.data.tables.encoding import Column
from ncgnn.text import several

_MOST = 1000


def learn_categories(column: pd.Series) -> Column | None:
    """The column with its categories, the most frequent if they are very many; None where every value is blank."""
    text = as_values(column)
    counts = text[text != ""].value_counts()
    # by name before frequency, so that the choice among equals does not hang on the order of the rows
    kept = counts.sort_index().sort_values(ascending=False, kind="stable").index[:_MOST]
    return Column(name=str(column.name), kind="categorical", categories=tuple(sorted(kept))) if len(kept) else None


def one_hot(column: pd.Series, spec: Column) -> tuple[sp.csr_array, pd.Series, int]:
    """The features [N, categories], the values that are none of the categories, and how many are blank."""
    text = as_values(column)
    codes = pd.Index(spec.categories, dtype="str").get_indexer(pd.Index(text))
    blank = (text == "").to_numpy()
    rows = np.flatnonzero(codes >= 0)
    entries = (np.ones(len(rows), np.float32), (rows, codes[rows]))
    return sp.csr_array(entries, shape=(len(text), spec.width)), text[(codes < 0) & ~blank], int(blank.sum())


def describe_categories(spec: Column, unknown: pd.Series, blank: int) -> str:
    others = f", {unknown.nunique()} rarer ones count as blank" if len(unknown) else ""
    return f"{spec.width} values{others}" + (f", {blank} blank" if blank else "")


def note_categories(spec: Column, unknown: pd.Series) -> str:
    """What to say of categories that a later table has and the first had not."""
    if not len(unknown):
        return ""
    return (
        f"column {spec.name!r}: {several(unknown.nunique(), 'unknown category')} in {several(len(unknown), 'row')}"
        f", taken as blank (first: {unknown.iloc[0]!r})"
    )
