"""NCGNN compared with simpler models on named graphs: results/compare/splits.csv and the table of docs/when-not.md.

``python -m benchmarks.compare`` runs ``ncgnn train GRAPH --compare`` with one thread wherever results with the current
settings are missing, and can be interrupted and resumed at any time; ``--report`` only writes the table from the
existing rows.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

from benchmarks import table
from benchmarks.page import NOTHING, fill, made_on, markdown
from benchmarks.table import Row
from ncgnn import compare
from ncgnn.files import atomic
from ncgnn.models.ncgnn import MODEL as NCGNN
from ncgnn.models.ncgnn import Config, preset
from ncgnn.provenance import machine
from ncgnn.train.reproducible import use_threads

ROOT = Path(__file__).parents[1]
RESULTS, PAGE = ROOT / "results/compare/splits.csv", ROOT / "docs/when-not.md"
KEY = ("graph", "split")
SPLITS = {"texas": 10, "cornell": 10, "wisconsin": 10, "cora": 1, "citeseer": 1, "amazon-photo": 1, "actor": 1}
MODELS = [*(rival.title for rival in compare.rivals(NCGNN.name)), NCGNN.title]
COMMAND = [sys.executable, "-c", "from ncgnn.cli.app import main; main()"]


def orders() -> Iterator[tuple[str, int]]:
    return ((graph, split) for graph, splits in SPLITS.items() for split in range(splits))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", nargs="+", choices=SPLITS, default=list(SPLITS))
    parser.add_argument("--report", action="store_true", help="run nothing")
    options = parser.parse_args()
    for graph, split in [] if options.report else orders():
        if graph in options.graphs and not is_measured(table.read(RESULTS), graph, split):
            table.keep(RESULTS, measure(graph, split), KEY)
    text = render(PAGE.read_text("utf-8"), table.read(RESULTS))
    with atomic(PAGE) as file:
        file.write(text)


def is_measured(rows: list[Row], graph: str, split: int) -> bool:
    """Whether this split was run with the current settings of the graph, against all that it is compared with now."""
    wanted = {"graph": graph, "split": split, "config": Config.make(preset(graph)).hash}
    return all(table.holds(rows, wanted | {"model": name}) for name in MODELS)


def measure(graph: str, split: int) -> list[Row]:
    """The command's comparison on one split."""
    with tempfile.TemporaryDirectory() as folder, use_threads(1):
        where, options = machine(), ["--split-seed", str(split), "--compare", "--json", "--out", folder]
        done = subprocess.run(
            [*COMMAND, "train", graph, *options],
            env=os.environ | {"OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    run = json.loads(done.stdout)
    order = {"graph": graph, "split": split, "config": Config.make(run["config"]).hash}
    return [order | row | where for row in run["comparison"]["rows"]]


def render(page: str, rows: list[Row]) -> str:
    """The page with an updated table."""
    return fill(page, "compare", _accuracies(rows) or NOTHING)


def _accuracies(rows: list[Row]) -> str:
    lines = []
    for graph in SPLITS:
        splits = _splits(table.latest([row for row in rows if row["graph"] == graph]))
        if splits:
            means = compare.mean_rows(splits)
            shown = {row.model: f"{100 * row.decisive:.1f}" for row in means}
            lines.append([graph, len(splits), *(shown.get(name, "-") for name in MODELS), compare.judge(means).text])
    return markdown(["graph", "splits", *MODELS, "verdict"], lines) + f"\n\n{made_on(rows)}" if lines else ""


def _splits(rows: list[Row]) -> list[list[compare.Compared]]:
    """The rows of each split as written by the command, for the models present in all splits."""
    names = [field.name for field in fields(compare.Compared)]
    splits: dict[int, dict[str, compare.Compared]] = {}
    for row in rows:
        splits.setdefault(row["split"], {})[row["model"]] = compare.Compared(**{name: row[name] for name in names})
    shared = [model for model in next(iter(splits.values()), ()) if all(model in split for split in splits.values())]
    return [[split[model] for model in shared] for split in splits.values()]


if __name__ == "__main__":
    main()
