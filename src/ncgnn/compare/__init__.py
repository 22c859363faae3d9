"""Compare NCGNN with simpler models on the same graph and split."""

from ncgnn.compare.comparison import Compared, compare, compare_results, rivals
from ncgnn.compare.verdict import Verdict, judge, mean_rows

__all__ = ["Compared", "Verdict", "compare", "compare_results", "judge", "mean_rows", "rivals"]
