"""Categorical columns: one feature per category."""

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ncgnn.data.tables.columns.values import as_values
from ncgnn.data.tables.encoding import Column
from ncgnn.text import several

_MOST = 1000


def learn_categories(column: pd.Series) -> Column | None:
    """The column with its categories, limited to the most frequent; None if all values are blank."""
    text = as_values(column)
    counts = text[text != ""].value_counts()
    # sorted by name first, so that ties do not depend on the order of the rows
    kept = counts.sort_index().sort_values(ascending=False, kind="stable").index[:_MOST]
    return Column(name=str(column.name), kind="categorical", categories=tuple(sorted(kept))) if len(kept) else None


def one_hot(column: pd.Series, spec: Column) -> tuple[sp.csr_array, pd.Series, int]:
    """The features [N, categories], the unknown values, and the number of blank values."""
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
    """A note about categories in a later table that were not in the first."""
    if not len(unknown):
        return ""
    return (
        f"column {spec.name!r}: {several(unknown.nunique(), 'unknown category')} in {several(len(unknown), 'row')}"
        f", taken as blank (first: {unknown.iloc[0]!r})"
    )
