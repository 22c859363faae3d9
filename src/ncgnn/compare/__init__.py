"""Simpler models beside NCGNN on the same graph and split, and whether they would do."""

from ncgnn.compare.comparison import Row, compare
from ncgnn.compare.rivals import RIVALS, Rival
from ncgnn.compare.verdict import Verdict, judge, mean_rows

__all__ = ["RIVALS", "Rival", "Row", "Verdict", "compare", "judge", "mean_rows"]
