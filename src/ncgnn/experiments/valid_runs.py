"""Select the stored runs that count."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from ncgnn.experiments.cells import Cell, all_cells
from ncgnn.experiments.protocol import fulfilled
from ncgnn.experiments.recipes import recipe
from ncgnn.experiments.rows import RunRow

Runs = Mapping[Cell, Sequence[RunRow]]


def counted(rows: Iterable[RunRow]) -> Runs:
    """The rows of each cell with its current settings and one version of its graph: the one with the most runs, because
    the graphs themselves need not be available for a report."""
    runs = _present(rows)
    versions = _versions(runs)
    kept = {cell: [row for row in found if row.graph == _main(versions[cell.graph])] for cell, found in runs.items()}
    return {cell: found for cell, found in kept.items() if found}


def whole(runs: Runs) -> Runs:
    """The cells with a run on each split at least: others would be compared on some splits only."""
    return {
        cell: rows for cell, rows in runs.items() if fulfilled(cell, {(int(row.split), int(row.seed)) for row in rows})
    }


def left_out(rows: Iterable[RunRow]) -> list[str]:
    """A line for each graph with stored runs on several versions."""
    lines = []
    for graph, versions in _versions(_present(rows)).items():
        main = _main(versions)
        others = ", ".join(f"{count} on {version}" for version, count in sorted(versions.items()) if version != main)
        if others:
            lines.append(f"{graph}: only runs on graph version {main} are counted ({versions[main]}), not {others}")
    return lines


def unit_of(cell: Cell) -> Literal["split", "seed"]:
    """The unit of a cell's interval: splits or seeds."""
    return "seed" if cell.has_one_split else "split"


def _present(rows: Iterable[RunRow]) -> Runs:
    found: dict[tuple[str, ...], list[RunRow]] = defaultdict(list)
    for row in rows:
        found[(*row.key[:4], row.config_hash)].append(row)
    hashes = {cell: settings.hash for cell in all_cells() if (settings := recipe(cell)) is not None}
    keys = {cell: (cell.table, cell.dataset, cell.setting, cell.model, hash) for cell, hash in hashes.items()}
    return {cell: found[key] for cell, key in keys.items() if key in found}


def _versions(runs: Runs) -> dict[str, Counter[str]]:
    """Number of runs per graph and version."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for cell, rows in runs.items():
        counts[cell.graph].update(row.graph for row in rows)
    return counts


def _main(versions: Counter[str]) -> str:
    return min(versions, key=lambda version: (-versions[version], version))
