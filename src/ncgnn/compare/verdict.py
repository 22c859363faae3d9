"""The verdict of a comparison, in one line."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt
from statistics import fmean

from ncgnn.compare.comparison import Compared

AS_WELL = 0.005
"""Models within half a point of accuracy count as equally good."""
_COARSE = 0.05  # no verdict if a difference of five points cannot be detected

_ALONE = {
    "features": "features alone do",
    "graph": "the graph and its labels alone do",
    "both": "a simpler model of features and graph does",
}


@dataclass(frozen=True)
class Verdict:
    """Which model to use, and why; ``use`` is None with too few nodes to tell, or if the lead may be chance. The text
    then names the best guess."""

    use: str | None
    text: str


def mean_rows(splits: Sequence[Sequence[Compared]]) -> list[Compared]:
    """One row per model: means over splits, and sums of node counts."""
    return [
        replace(
            rows[0],
            val_accuracy=fmean(row.val_accuracy for row in rows),
            test_accuracy=None if rows[0].test_accuracy is None else fmean(row.decisive for row in rows),
            seconds=round(fmean(row.seconds for row in rows), 3),
            **{key: sum(getattr(row, key) for row in rows) for key in ("judged", "better", "worse")},
        )
        for rows in zip(*splits, strict=True)
    ]


def judge(rows: Sequence[Compared]) -> Verdict:
    """Recommend the simplest model that is as good as the best, or the compared one if it is ahead of all others.

    The first row is the compared model; the others are sorted from simple to complex. A lead within two standard errors
    of the difference may be chance; nodes that are tested in several splits count once per split.
    """
    own, *rivals = rows
    best = max(row.decisive for row in rows)
    good = [row for row in rivals if row.decisive >= best - AS_WELL]
    nodes = f"{own.judged} {'validation' if own.test_accuracy is None else 'test'} nodes"
    if not rivals:
        return Verdict(own.model, f"{own.decisive:.1%} of {nodes} correct; no other model to compare with")
    if good:
        return _simpler(good[0], own, nodes)
    second = max(rivals, key=lambda row: row.decisive)
    lead = f"{own.model} is {100 * (own.decisive - second.decisive):.1f} points ahead of the runner-up, {second.model}"
    if is_chance(second):
        return Verdict(None, f"{lead}, but with {nodes} this may be chance: {_until_then(own)}")
    return Verdict(own.model, f"{lead}, more than chance with {nodes}: use {own.model}")


def _simpler(rival: Compared, own: Compared, nodes: str) -> Verdict:
    is_ahead = rival.decisive > own.decisive + AS_WELL
    is_better = is_ahead and not is_chance(rival)
    how = f"{rival.decisive:.1%} of {nodes} correct, {own.model} {own.decisive:.1%}"
    said = f"{_ALONE[rival.knows]} {'better' if is_better else 'as well'} ({how})"
    if not is_better and _visible(rival) > _COARSE:
        smallest = f"differences below {100 * _visible(rival):.0f} points cannot be detected with so few nodes"
        said = f"{rival.model} is ahead ({how})" if is_ahead else said
        return Verdict(None, f"{said}, but {smallest}: {_until_then(rival)}")
    return Verdict(rival.model, f"{said}: use {rival.model}, unless you need explanations")


def _until_then(row: Compared) -> str:
    return f"compare on more splits; until then, {row.model} is the best guess"


def _visible(row: Compared) -> float:
    """The smallest difference in accuracy that is more than chance."""
    return min(1.0, 2 * sqrt(max(row.better + row.worse, 1)) / row.judged)


def is_chance(row: Compared) -> bool:
    """Whether the difference between two models may be chance, given the nodes that only one of them gets right."""
    return abs(row.better - row.worse) <= 2 * sqrt(row.better + row.worse)
