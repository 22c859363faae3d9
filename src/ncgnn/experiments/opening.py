"""The first sentences of the report: where NCGNN wins, ties and loses."""

from collections.abc import Sequence
from statistics import fmean

from ncgnn.experiments.contests import GROUPS, columns, with_best
from ncgnn.experiments.valid_runs import Runs
from ncgnn.text import several

_METHOD = """\
On each graph of tables 3 to 6, NCGNN is NCGNN-A or NCGNN-D, and its rival is one of the group, each the best one on
validation nodes. A win or a loss is a difference in test accuracy on the same splits (on Syn-Cora, the same seeds) that
a paired t-test calls significant at 5 %, corrected for the number of graphs by Holm's method; all others are ties. The
splits of a graph share nodes, so the test errs on the side of finding differences. A group is easier to beat while few
of its rivals have been run, so each line ends with how many were.
"""


def opening(runs: Runs) -> list[str]:
    """A paragraph on the method, and a line for each group of rivals."""
    lines = [f"- {_line(group, names, runs)}" for group, names in GROUPS.items()]
    return ["## Where NCGNN wins, ties and loses", _METHOD, "\n".join(lines)]


def _line(group: str, names: Sequence[str], runs: Runs) -> str:
    contests = with_best(names, runs)
    if not contests:
        return f"**Against {group}**: not run yet."
    graphs = {name: [one.graph for one in contests if one.outcome == name] for name in ("win", "tie", "loss")}
    said = ", ".join(several(len(found), name) for name, found in graphs.items())
    where = [f"{name}: {', '.join(found)}" for name, found in graphs.items() if found and name != "tie"]
    mean = fmean(contest.gap.mean for contest in contests)
    text = f"**Against {group}**: {said} on {several(len(contests), 'graph')}, {mean:+.1f} points on average"
    text += f" ({'; '.join(where)})" if where else ""
    return f"{text}. {_run(names, runs)}"


def _run(names: Sequence[str], runs: Runs) -> str:
    """How many of the runs of a group there are."""
    wanted = [cell for cells in columns().values() for model, cell in cells.items() if model in names]
    return f"Run: {sum(cell in runs for cell in wanted)} of {several(len(wanted), 'cell')}."
