"""Which of the stored runs count."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from ncgnn.experiments.cells import Cell, all_cells
from ncgnn.experiments.recipes import recipe
from ncgnn.experiments.rows import RunRow

Runs = Mapping[Cell, Sequence[RunRow]]


def counted(rows: Iterable[RunRow]) -> Runs:
    """The rows of each cell that were run with its present settings, and on one version of its graph: on that with
    the most runs, because the graphs themselves need not be at hand for a report."""
    runs = _present(rows)
    versions = _versions(runs)
    kept = {cell: [row for row in found if row.graph == _main(versions[cell.graph])] for cell, found in runs.items()}
    return {cell: found for cell, found in kept.items() if found}


def left_out(rows: Iterable[RunRow]) -> list[str]:
    """A line for each graph of which runs on several versions are stored."""
    lines = []
    for graph, versions in _versions(_present(rows)).items():
        main = _main(versions)
        others = ", ".join(f"{count} on {version}" for version, count in sorted(versions.items()) if version != main)
        if others:
            lines.append(f"{graph}: runs on version {main} of the graph are counted ({versions[main]}), not {others}")
    return lines


def unit_of(cell: Cell) -> Literal["split", "seed"]:
    """Over what a cell's interval goes."""
    return "seed" if cell.is_synthetic else "split"


def _present(rows: Iterable[RunRow]) -> Runs:
    found: dict[tuple[str, ...], list[RunRow]] = defaultdict(list)
    for row in rows:
        found[(*row.key[:4], row.config_hash)].append(row)
    hashes = {cell: settings.hash for cell in all_cells() if (settings := recipe(cell)) is not None}
    keys = {cell: (cell.table, cell.dataset, cell.setting, cell.model, hash) for cell, hash in hashes.items()}
    return {cell: found[key] for cell, key in keys.items() if key in found}


def _versions(runs: Runs) -> dict[str, Counter[str]]:
    """For each graph, how many runs there are on each of its versions."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for cell, rows in runs.items():
        counts[cell.graph].update(row.graph for row in rows)
    return counts


def _main(versions: Counter[str]) -> str:
    return min(versions, key=lambda version: (-versions[version], version))
