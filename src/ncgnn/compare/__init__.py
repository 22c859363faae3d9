"""Simpler models beside NCGNN on the same graph and split, and whether they would do."""

from ncgnn.compare.comparison import Compared, compare, rivals
from ncgnn.compare.verdict import Verdict, judge, mean_rows

__all__ = ["Compared", "Verdict", "compare", "judge", "mean_rows", "rivals"]
