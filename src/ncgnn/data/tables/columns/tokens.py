"""Tokenise a whole column of texts at a time."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

_BETWEEN = r"[^\pL\pN_]+"  # the complement of scikit-learn's \w\w+, in arrow's regex syntax
_APART = r"\S*[\pL_]{2}\S*"


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
