"""Stored runs, made again: the same accuracy to the last digit."""

from pathlib import Path

import pytest

from ncgnn.experiments.cells import all_cells
from ncgnn.experiments.one_run import Run, perform
from ncgnn.experiments.protocol import version_at_hand
from ncgnn.experiments.recipes import recipe
from ncgnn.experiments.rows import RunStore
from ncgnn.provenance import origin

RESULTS = Path(__file__).parents[2] / "results"
CHOSEN = [
    ("5", "texas", "NCGNN-A", 0),
    ("5", "cornell", "NCGNN-A", 1),
    ("5", "wisconsin", "NCGNN-A", 2),
    ("3", "cora", "NCGNN-A", 3),
    ("3", "cora", "NCGNN-D", 0),
    ("3", "citeseer", "NCGNN-D", 1),
    ("3", "cora", "GCN", 2),
    ("5", "texas", "GCN", 3),
    ("3", "citeseer", "GCN", 4),
    ("5", "wisconsin", "MLP", 0),
    ("3", "cora", "MLP", 1),
    ("5", "cornell", "MLP", 2),
]


@pytest.mark.long
@pytest.mark.usefixtures("benchmark")
@pytest.mark.parametrize(("table", "dataset", "model", "split"), CHOSEN)
def test_a_stored_run_made_again_gives_the_same_accuracy(table, dataset, model, split):
    cell = next(c for c in all_cells() if (c.table, c.dataset, c.model) == (table, dataset, model))
    run = Run(cell, split, 0, recipe(cell), version_at_hand(cell.graph))
    (stored,) = [row for row in RunStore(RESULTS).read() if row.key == run.key]
    if stored.cpu != origin()["cpu"]:
        pytest.skip(f"stored on {stored.cpu}: another processor rounds differently")
    again = perform(run)
    assert (again.val_accuracy, again.test_accuracy, again.epoch) == (
        stored.val_accuracy,
        stored.test_accuracy,
        stored.epoch,
    )
