"""Texts divided into words, a whole column at a time."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

_BETWEEN = r"[^\pL\pN_]+"  # what scikit-learn's \w\w+ leaves out, in the language of arrow
_APART = r"\S*[\pL_]{2}\S*"


class Tokens(NamedTuple):
    """Every word of every text, in small letters, and the number of the text it is from."""

    words: pa.Array
    rows: np.ndarray


def tokens(text: pd.Series) -> Tokens:
    """The words of two letters or more."""
    lower = pc.utf8_lower(one_array(text))
    blanked = pc.replace_substring_regex(lower, pattern=_BETWEEN, replacement=" ")
    # not utf8_split_whitespace, which reads beyond texts of 64 bytes and keeps their last blank
    lists = pc.split_pattern(blanked, pattern=" ")
    words, rows = pc.list_flatten(lists), pc.list_parent_indices(lists)
    long = pc.greater(pc.utf8_length(words), 1)
    return Tokens(words.filter(long), rows.filter(long).to_numpy())


def count_spaced_words(text: pd.Series) -> np.ndarray:
    """Number of words of each text that blanks keep apart: of an address or a path only one, of a telephone number
    none."""
    counts: np.ndarray = pc.count_substring_regex(one_array(text), pattern=_APART).to_numpy()
    return counts


def one_array(text: pd.Series) -> pa.LargeStringArray:
    """In one piece: a column that was put together, by ``pd.concat`` or from a file of several parts, has many."""
    found = pa.array(text, pa.large_string())
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found
