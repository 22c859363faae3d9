"""Edges that hold in both directions, among others that hold in one."""

import numpy as np
import pandas as pd

from ncgnn.data.columns import as_values
from ncgnn.errors import InputError

_ONE = ("", "directed", "->", "<-", "out", "in")
_BOTH = ("undirected", "both", "<->", "--", "mutual")


def times_counted(column: pd.Series, where: str) -> np.ndarray:
    """How often each edge counts: twice where it holds in both directions, as the two rows that it stands for."""
    text = as_values(column).str.lower()
    both = text.isin(_BOTH).to_numpy()
    wrong = ~(both | text.isin(_ONE).to_numpy())
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError(
            f"{where}, column {str(column.name)!r}, row {row + 1}: {text.iloc[row]!r} is not a direction; write"
            f" {', '.join(_ONE[1:])} for one, {', '.join(_BOTH)} for both"
        )
    return 1 + both
