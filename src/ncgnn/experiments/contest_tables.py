"""Tables of NCGNN's wins, ties and losses."""

from collections.abc import Sequence
from statistics import fmean

from ncgnn.experiments.contests import GROUPS, Contest, own_cell, with_best, with_each
from ncgnn.experiments.statistics import Table, Value
from ncgnn.experiments.valid_runs import Runs


def contest_table(runs: Runs) -> Table:
    """Wins, ties and losses of NCGNN against the best of each group and against each rival that was run."""
    rows: list[list[Value]] = []
    for group, names in GROUPS.items():
        rows.append([f"best of {group}" if len(names) > 2 else group, *counts(with_best(names, runs))])
        each = with_each(names, runs)
        found = {name: [contest for contest in each if contest.rival == name] for name in names}
        rows += [[name, *counts(contests)] for name, contests in found.items() if contests and len(names) > 2]
    columns = ("rival", "graphs", "wins", "ties", "losses", "mean difference")
    return Table("contests", "NCGNN against its rivals", columns, rows)


def graph_table(runs: Runs) -> Table:
    """The best rival of each group on each graph."""
    rows: list[list[Value]] = []
    for group, names in GROUPS.items():
        for contest in with_best(names, runs):
            own = own_cell(contest.graph, runs)
            assert own is not None  # there would be no contest
            gap = contest.gap
            rows.append(
                [contest.graph, own.model, contest.rival, group, gap.mean, gap.half, contest.p, contest.outcome]
            )
    columns = ("graph", "NCGNN", "best rival", "of", "difference", "±", "p, corrected", "outcome")
    return Table("contests-graphs", "NCGNN against the best rivals, graph by graph", columns, rows)


def counts(contests: Sequence[Contest]) -> list[Value]:
    """Graphs, wins, ties, losses, and the mean of NCGNN minus rival."""
    outcomes = [contest.outcome for contest in contests]
    mean = fmean(contest.gap.mean for contest in contests) if contests else None
    return [len(contests), *(outcomes.count(name) for name in ("win", "tie", "loss")), mean]
