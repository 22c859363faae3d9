"""Rows of results as a test wants them."""

from ncgnn.experiments.cells import Cell
from ncgnn.experiments.recipes import recipe
from ncgnn.experiments.rows import RunRow


def row(
    cell: Cell, split: int, accuracy: float, hash: str | None = None, seed: int = 0, graph: str = "0123456789ab"
) -> RunRow:
    identity = (cell.table, cell.dataset, cell.setting, cell.model, str(split), str(seed))
    values = ("0.5", str(accuracy), "", "1", "1.0", "0.1.0", "2.13", "2.8", "2.4", "c0ffee+", "Xeon", "2026-01-31")
    return RunRow(*identity, hash or recipe(cell).hash, graph, *values)
