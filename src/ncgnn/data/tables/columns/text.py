"""Free-text columns: TF-IDF as in scikit-learn, one feature per word."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from ncgnn.data.tables.columns.values import as_values
from ncgnn.data.tables.encoding import Column

_MOST = 5000
_RARE, _COMMON = 2, 0.5  # rows, and fraction of rows: rarer and more common words carry no information
_FALL = 0.05
_BETWEEN = r"[^\pL\pN_]+"  # the complement of scikit-learn's \w\w+, in arrow's regex syntax
_APART = r"\S*[\pL_]{2}\S*"


def learn_words(column: pd.Series) -> Column | None:
    """The column with its words and their weights; None if all words are too rare or too common."""
    text = as_values(column)
    text = text[text != ""]
    found = tokens(text)
    coded = found.words.dictionary_encode()
    counts = _counts(found.rows, coded.indices.to_numpy(), (len(text), len(coded.dictionary)))
    rows, often = np.diff(counts.tocsc().indptr), counts.sum(axis=0)
    fit = np.flatnonzero((rows >= _RARE) & (rows <= _COMMON * len(text)))
    if not len(fit):
        return None
    names = np.array(coded.dictionary.take(pa.array(fit)).to_pylist(), dtype=object)
    order = np.lexsort((names, -often[fit]))[:_MOST]
    order = order[np.argsort(names[order])]
    return Column(
        name=str(column.name),
        kind="text",
        words=tuple(names[order]),
        idf=tuple((np.log((1 + len(text)) / (1 + rows[fit[order]])) + 1).tolist()),
        known=float(often[fit[order]].sum() / often.sum()),
    )


def tf_idf(column: pd.Series, spec: Column) -> tuple[sp.csr_array, float, int]:
    """The features [N, words], the fraction of known words, and the number of rows with text but no known word."""
    from sklearn.preprocessing import normalize  # only where there is text

    found = tokens(as_values(column))
    codes = pc.index_in(found.words, value_set=pa.array(spec.words, pa.large_string())).fill_null(-1).to_numpy()
    known = codes >= 0
    counts = _counts(found.rows[known], codes[known], (len(column), spec.width))
    strange = len(np.unique(found.rows)) - int((np.diff(counts.indptr) > 0).sum())
    x = normalize(counts @ sp.diags_array(np.array(spec.idf))).astype(np.float32)
    return x, float(known.sum() / max(len(known), 1)), strange


def describe_words(spec: Column, known: float, strange: int) -> str:
    rest = f"; {strange} rows have none of them" if strange else ""
    return f"vocabulary of {spec.width} words, covering {known:.0%} of the text{rest}"


def note_words(spec: Column, known: float, strange: int) -> str:
    """A note if a later table has other words than the first."""
    if not strange and known >= spec.known - _FALL:
        return ""
    return (
        f"column {spec.name!r}: {known:.1%} of the words are known (in the training table"
        f" {spec.known:.1%}); rows with text but no known word: {strange}"
    )


def _counts(rows: np.ndarray, codes: np.ndarray, shape: tuple[int, int]) -> sp.csr_array:
    """Word counts per text."""
    counts = sp.csr_array((np.ones(len(rows)), (rows, codes)), shape=shape)
    counts.sum_duplicates()
    return counts


class Tokens(NamedTuple):
    """Every word of every text, in lower case, and the index of its text."""

    words: pa.Array
    rows: np.ndarray


def tokens(text: pd.Series) -> Tokens:
    """The words with two or more letters."""
    lower = pc.utf8_lower(one_array(text))
    blanked = pc.replace_substring_regex(lower, pattern=_BETWEEN, replacement=" ")
    # not utf8_split_whitespace, which reads past the end of 64-byte texts and keeps trailing blanks
    lists = pc.split_pattern(blanked, pattern=" ")
    words, rows = pc.list_flatten(lists), pc.list_parent_indices(lists)
    long = pc.greater(pc.utf8_length(words), 1)
    return Tokens(words.filter(long), rows.filter(long).to_numpy())


def count_spaced_words(text: pd.Series) -> np.ndarray:
    """Number of words per text separated by blanks: one for an address or a path, none for a phone number."""
    counts: np.ndarray = pc.count_substring_regex(one_array(text), pattern=_APART).to_numpy()
    return counts


def one_array(text: pd.Series) -> pa.LargeStringArray:
    """The column in one chunk; columns from ``pd.concat`` or from files with several parts have many."""
    found = pa.array(text, pa.large_string())
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found
