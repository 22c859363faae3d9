"""Calibration of probabilities and prediction sets: results/calibration/splits.csv and docs/probabilities.md.

``python -m benchmarks.calibration`` runs missing splits and can be interrupted and resumed at any time;
``--report`` only writes the tables from the existing rows.
"""

import argparse
import statistics
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from torch_geometric.data import Data

from benchmarks import table
from benchmarks.page import NOTHING, fill, made_on, markdown
from benchmarks.table import Row
from ncgnn.calibration import Calibration, calibration_error
from ncgnn.classifier import NCGNNClassifier
from ncgnn.data import load_dataset, set_aside, usual_split
from ncgnn.files import atomic
from ncgnn.models.ncgnn.config import Config, preset
from ncgnn.nn import proportions
from ncgnn.provenance import machine
from ncgnn.train.reproducible import use_threads

ROOT = Path(__file__).parents[1]
RESULTS, PAGE = ROOT / "results/calibration/splits.csv", ROOT / "docs/probabilities.md"
GRAPHS, SPLITS, ERROR_SPLITS = ("cora", "amazon-photo", "pubmed"), 20, 10
COVERAGE, SHARE = 0.9, 0.5
KEY = ("graph", "split", "share")


def orders() -> Iterator[tuple[str, int, float]]:
    """Graph, split and fraction of validation nodes held out; 0 measures the cost of holding nodes out."""
    for graph in GRAPHS:
        yield from ((graph, split, SHARE) for split in range(SPLITS))
        yield from ((graph, split, 0.0) for split in range(ERROR_SPLITS))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", nargs="+", choices=GRAPHS, default=GRAPHS)
    parser.add_argument("--report", action="store_true", help="run nothing")
    options = parser.parse_args()
    for order in [] if options.report else orders():
        if order[0] in options.graphs and not is_measured(table.read(RESULTS), *order):
            table.keep(RESULTS, [measure(*order)], KEY)
    text = render(PAGE.read_text("utf-8"), table.read(RESULTS))
    with atomic(PAGE) as file:
        file.write(text)


def is_measured(rows: list[Row], graph: str, split: int, share: float) -> bool:
    """Whether this was run with the current settings of the graph."""
    config = Config.make(preset(graph)).hash
    return table.holds(rows, {"graph": graph, "split": split, "share": share, "config": config})


def measure(graph: str, split: int, share: float) -> Row:
    """Train on one split and evaluate on the test nodes."""
    data, config = usual_split(load_dataset(graph), split), Config.make(preset(graph))
    data = set_aside(data, share, split) if share else data
    with use_threads(1):
        lengths = NCGNNClassifier.from_config(config).fit(data).decision_function(data)
    order = {"graph": graph, "split": split, "share": share, "config": config.hash}
    return order | judge(data, lengths) | machine()


def judge(data: Data, lengths: np.ndarray) -> Row:
    """Calibration on test nodes, before and after fitting."""
    y, test, shares = data.y.numpy(), data.test_mask.numpy(), proportions(torch.from_numpy(lengths)).numpy()
    row: Row = {"stopping": int(data.val_mask.sum()), "aside": 0, "tested": int(test.sum())}
    row |= {"accuracy": _share(lengths.argmax(axis=1)[test] == y[test])}
    row |= {"error_before": round(calibration_error(shares[test], y[test]), 4)}
    if "calibration_mask" not in data:
        return row | dict.fromkeys(("temperature", "error_after", "coverage", "size", "empty"), "")
    aside = data.calibration_mask.numpy()
    found = Calibration.fit(shares[aside], y[aside])
    sets = found.sets(shares[test], COVERAGE)
    sizes = sets.sum(axis=1)
    return row | {
        "aside": int(aside.sum()),
        "temperature": round(found.temperature, 4),
        "error_after": round(calibration_error(found.probabilities(shares[test]), y[test]), 4),
        "coverage": _share(sets[np.arange(len(sets)), y[test]]),
        "size": round(float(sizes.mean()), 4),
        "empty": _share(sizes == 0),
    }


def _share(flags: np.ndarray) -> float:
    return round(float(flags.mean()), 4)


def render(page: str, rows: list[Row]) -> str:
    """The page with updated tables."""
    for name, block in (("honesty", _honesty), ("cost", _cost)):
        page = fill(page, name, block(rows) or NOTHING)
    return page


def _honesty(rows: list[Row]) -> str:
    lines = []
    for graph in GRAPHS:
        found = _rows(rows, graph, SHARE)
        first = [row for row in found if row["split"] < ERROR_SPLITS]
        if first:
            errors = [f"{_mean(first, key):.3f}" for key in ("error_before", "error_after")]
            sets = [f"{_mean(found, 'coverage'):.1%}", f"{_mean(found, 'size'):.2f}", f"{_mean(found, 'empty'):.1%}"]
            lines.append([graph, len(first), *errors, len(found), *sets])
    head = ["graph", "splits", "error before", "error after", "splits", "coverage", "classes per set", "empty sets"]
    return markdown(head, lines) + f"\n\n{made_on(rows)}" if lines else ""


def _cost(rows: list[Row]) -> str:
    lines = []
    for graph in GRAPHS:
        plain = _rows(rows, graph, 0.0)
        splits = {row["split"] for row in plain}
        beside = [row for row in _rows(rows, graph, SHARE) if row["split"] in splits]
        if beside and len(beside) == len(plain):
            lines.append([graph, len(plain), *(f"{_mean(side, 'accuracy'):.1%}" for side in (plain, beside))])
    return markdown(["graph", "splits", "500 nodes", "250 nodes"], lines) if lines else ""


def _rows(rows: list[Row], graph: str, share: float) -> list[Row]:
    return [row for row in table.latest([row for row in rows if row["graph"] == graph]) if row["share"] == share]


def _mean(rows: list[Row], key: str) -> float:
    return statistics.mean(float(row[key]) for row in rows)


if __name__ == "__main__":
    main()
