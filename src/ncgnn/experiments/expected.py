"""How long runs will take, judged by those that are stored."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from math import exp, log
from statistics import fmean

from ncgnn.experiments.cells import Cell
from ncgnn.experiments.one_run import Run
from ncgnn.experiments.rows import RunRow
from ncgnn.experiments.statistics import Table, Value

_SHORTEST, _UNKNOWN = 0.1, 10.0  # seconds


def expected_seconds(rows: Iterable[RunRow]) -> Callable[[Cell], float]:
    """The seconds of a run: the mean of its model on its graph or, if there is no such run, of all models on the graph,
    times what the model takes longer than others do on other graphs."""
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in rows:
        found[row.dataset, row.model].append(log(max(float(row.seconds), _SHORTEST)))
    means = {key: fmean(values) for key, values in found.items()}
    overall = fmean(means.values()) if means else log(_UNKNOWN)
    graphs = _means((graph, value - overall) for (graph, _), value in means.items())
    models = _means((model, value - overall - graphs[graph]) for (graph, model), value in means.items())

    def seconds(cell: Cell) -> float:
        guess = overall + graphs.get(cell.dataset, 0.0) + models.get(cell.model, 0.0)
        return exp(means.get((cell.dataset, cell.model), guess))

    return seconds


def plan_table(runs: Sequence[Run], seconds: Callable[[Cell], float]) -> Table:
    """Missing runs and hours for each graph of each table, cheapest first, and the hours up to there."""
    groups: dict[tuple[str, str], list[float]] = defaultdict(list)
    for run in runs:
        groups[run.cell.table, run.cell.dataset].append(seconds(run.cell))
    lines: list[list[Value]] = []
    total = 0.0
    for (table, dataset), found in sorted(groups.items(), key=lambda group: fmean(group[1])):
        total += sum(found) / 3600
        lines.append([table, dataset, len(found), fmean(found), sum(found) / 3600, total])
    columns = ("table", "graph", "missing runs", "seconds per run", "hours", "hours so far")
    return Table("plan", "Missing runs, cheapest first (one process, as fast as the stored runs)", columns, lines)


def _means(pairs: Iterable[tuple[str, float]]) -> dict[str, float]:
    values: dict[str, list[float]] = defaultdict(list)
    for key, value in pairs:
        values[key].append(value)
    return {key: fmean(found) for key, found in values.items()}
