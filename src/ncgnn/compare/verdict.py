"""What a comparison says, in one line."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt
from statistics import fmean

from ncgnn.compare.comparison import Compared

AS_WELL = 0.005
"""Half a point of accuracy is worth no further model."""
_COARSE = 0.05  # no statement where five points do not show

_ALONE = {
    "features": "features alone do",
    "graph": "the graph and its labels alone do",
    "both": "a plain graph convolution does",
}


@dataclass(frozen=True)
class Verdict:
    """Which model to use, and why; none where the nodes are too few to tell, or the lead of the model may be chance."""

    use: str | None
    text: str


def mean_rows(splits: Sequence[Sequence[Compared]]) -> list[Compared]:
    """One row a model: means over splits, and the sum of what counts nodes."""
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
    """The simplest model that is as good as the best; the one compared, in the first row, where it is ahead of all.

    The others come from the simplest to the least simple. What two standard errors of the difference cannot tell from
    chance is called so; nodes that are in the test parts of several splits count several times.
    """
    own, *rivals = rows
    best = max(row.decisive for row in rows)
    good = [row for row in rivals if row.decisive >= best - AS_WELL]
    nodes = f"{own.judged} {'validation' if own.test_accuracy is None else 'test'} nodes"
    if not rivals:
        return Verdict(own.model, f"{own.decisive:.1%} of {nodes} right, beside no other model")
    if good:
        return _simpler(good[0], own, nodes)
    second = max(rivals, key=lambda row: row.decisive)
    lead = f"{own.model} is {100 * (own.decisive - second.decisive):.1f} points ahead of the best other, {second.model}"
    if is_chance(second):
        return Verdict(None, f"{lead}, but on {nodes} that may be chance: compare on more splits")
    return Verdict(own.model, f"{lead}, on {nodes} more than chance: use {own.model}")


def _simpler(rival: Compared, own: Compared, nodes: str) -> Verdict:
    is_ahead = rival.decisive > own.decisive + AS_WELL
    is_better = is_ahead and not is_chance(rival)
    how = f"{rival.decisive:.1%} of {nodes} right, {own.model} {own.decisive:.1%}"
    said = f"{_ALONE[rival.knows]} {'better' if is_better else 'as well'} ({how})"
    if not is_better and _visible(rival) > _COARSE:
        smallest = f"no difference below {100 * _visible(rival):.0f} points shows on so few nodes"
        said = f"{rival.model} is ahead ({how})" if is_ahead else said
        return Verdict(None, f"{said}, but {smallest}: compare on more splits")
    return Verdict(rival.model, f"{said}: use {rival.model}")


def _visible(row: Compared) -> float:
    """The smallest difference in accuracy that would not pass for chance."""
    return min(1.0, 2 * sqrt(max(row.better + row.worse, 1)) / row.judged)


def is_chance(row: Compared) -> bool:
    """Whether so many nodes that one model alone gets right, and so few that the other does, may be chance."""
    return abs(row.better - row.worse) <= 2 * sqrt(row.better + row.worse)
