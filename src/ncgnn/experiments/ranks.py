"""Average ranks of models over graphs, with the critical difference of Nemenyi's test (Demsar, 2006)."""

from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from math import inf, sqrt
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.stats import friedmanchisquare, rankdata, studentized_range

from ncgnn.drawing import new_figure
from ncgnn.experiments.contests import LEVEL, columns
from ncgnn.experiments.statistics import Table, Value, units
from ncgnn.experiments.valid_runs import Runs, unit_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FEWEST = 3  # models and graphs


@dataclass(frozen=True)
class Ranking:
    """Mean accuracies [graphs, models] of models that were run on all of these graphs."""

    accuracy: pd.DataFrame

    @cached_property
    def ranks(self) -> pd.Series:
        """The mean rank of each model, best first; 1 is the highest accuracy, and equals share their ranks."""
        ranks = pd.DataFrame(rankdata(-self.accuracy.to_numpy(), axis=1), columns=self.accuracy.columns)
        return ranks.mean().sort_values(kind="stable")

    @property
    def p(self) -> float:
        """Of Friedman's test that all models are equally good."""
        return float(friedmanchisquare(*self.accuracy.to_numpy().T).pvalue)

    @property
    def critical_difference(self) -> float:
        """Two models whose mean ranks differ by less are not told apart."""
        graphs, models = self.accuracy.shape
        return float(studentized_range.ppf(1 - LEVEL, models, inf)) * sqrt(models * (models + 1) / (12 * graphs))


def ranking(runs: Runs) -> Ranking | None:
    """Of the real graphs and models such that every model was run on every graph, as many values as can be had by
    leaving out the graphs with the fewest models; None for less than three of either."""
    accuracy = pd.DataFrame(
        {
            graph: {m: fmean(units(runs[c], unit_of(c)).values()) for m, c in cells.items() if c in runs}
            for graph, cells in columns().items()
            if not any(cell.is_synthetic for cell in cells.values())
        }
    ).T
    order = accuracy.notna().sum(axis=1).sort_values(ascending=False, kind="stable").index
    blocks = [accuracy.loc[order[:count]].dropna(axis=1) for count in range(_FEWEST, len(order) + 1)]
    blocks = [block for block in blocks if block.shape[1] >= _FEWEST]
    return Ranking(max(blocks, key=np.size)) if blocks else None


def rank_table(found: Ranking) -> Table:
    graphs = len(found.accuracy)
    rows: list[list[Value]] = [[str(model), float(rank), graphs] for model, rank in found.ranks.items()]
    return Table("ranks", "Mean ranks", ("model", "mean rank", "graphs"), rows)


def rank_text(found: Ranking) -> str:
    return (
        f"Mean ranks over {len(found.accuracy)} graphs ({', '.join(found.accuracy.index)}) of the "
        f"{found.accuracy.shape[1]} models that were run on all of them. Friedman's test that all are equally good: "
        f"p = {found.p:.2g}. Models whose ranks differ by less than {found.critical_difference:.2f}, the critical "
        "difference of Nemenyi's test at 5 %, are not told apart."
    )


def can_be_drawn() -> bool:
    return find_spec("scikit_posthocs") is not None


def draw_ranks(found: Ranking) -> "Figure":
    """The diagram of critical differences: bars join models that are not told apart."""
    from scikit_posthocs import critical_difference_diagram, posthoc_nemenyi_friedman

    figure = new_figure(10, 1.2 + 0.16 * found.accuracy.shape[1])
    told_apart = posthoc_nemenyi_friedman(found.accuracy.reset_index(drop=True))
    critical_difference_diagram(found.ranks, told_apart, ax=figure.subplots())
    return figure
