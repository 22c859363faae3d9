"""Compare NCGNN with simpler models on the same graph and split."""

from ncgnn.compare.comparison import Compared, compare, rivals
from ncgnn.compare.verdict import Verdict, judge, mean_rows

__all__ = ["Compared", "Verdict", "compare", "judge", "mean_rows", "rivals"]
