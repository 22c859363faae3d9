"""NCGNN beside simpler models on named graphs: results/compare/splits.csv and the table of docs/when-not.md.

``python -m benchmarks.compare`` runs ``ncgnn train GRAPH --compare`` where results are missing, with one thread, and
can be stopped and started again at any time; ``--report`` writes the table from the rows there are.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

from benchmarks import table
from benchmarks.page import made_on, markdown
from benchmarks.table import Row
from ncgnn import compare
from ncgnn.bench.machine import machine, use_threads
from ncgnn.files import atomic

ROOT = Path(__file__).parents[1]
RESULTS, PAGE = ROOT / "results/compare/splits.csv", ROOT / "docs/when-not.md"
SPLITS = {"texas": 3, "cornell": 3, "wisconsin": 3, "cora": 1, "citeseer": 1, "amazon-photo": 1, "actor": 1}
COMMAND = [sys.executable, "-c", "from ncgnn.cli import main; main()"]


def orders() -> Iterator[tuple[str, int]]:
    return ((graph, split) for graph, splits in SPLITS.items() for split in range(splits))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", nargs="+", choices=SPLITS, default=list(SPLITS))
    parser.add_argument("--report", action="store_true", help="run nothing")
    options = parser.parse_args()
    for graph, split in [] if options.report else orders():
        rows = table.read(RESULTS)
        if graph in options.graphs and not any((graph, split) == (row["graph"], row["split"]) for row in rows):
            table.write(RESULTS, [*rows, *measure(graph, split)], {})
    text = fill(PAGE.read_text("utf-8"), table.read(RESULTS))
    with atomic(PAGE) as file:
        file.write(text)


def measure(graph: str, split: int) -> list[Row]:
    """The comparison that the command makes on one split."""
    with tempfile.TemporaryDirectory() as folder, use_threads(1):
        where, options = machine(), ["--split-seed", str(split), "--compare", "--json", "--out", folder]
        done = subprocess.run(
            [*COMMAND, "train", graph, *options],
            env=os.environ | {"OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    return [{"graph": graph, "split": split} | row | where for row in json.loads(done.stdout)["comparison"]["rows"]]


def fill(page: str, rows: list[Row]) -> str:
    """The page with its table made anew."""
    mark = re.compile(r"(<!-- compare -->\n).*?(<!-- end compare -->)", re.DOTALL)
    text = _accuracies(rows) or "Not measured yet."
    return mark.sub(lambda found: f"{found[1]}\n{text}\n\n{found[2]}", page)


def _accuracies(rows: list[Row]) -> str:
    lines = []
    for graph in SPLITS:
        splits = _splits([row for row in rows if row["graph"] == graph])
        if splits:
            own, *rivals = compare.mean_rows(splits)
            shown = [f"{100 * row.decisive:.1f}" for row in (*rivals, own)]
            lines.append([graph, len(splits), *shown, compare.judge([own, *rivals]).text])
    head = ["graph", "splits", *(rival.name for rival in compare.RIVALS), "NCGNN", "verdict"]
    return markdown(head, lines) + f"\n\n{made_on(rows)}" if lines else ""


def _splits(rows: list[Row]) -> list[list[compare.Row]]:
    """The rows of each split, as the command made them."""
    names = [field.name for field in fields(compare.Row)]
    made = [(row["split"], compare.Row(**{name: row[name] for name in names})) for row in rows]
    return [[row for split, row in made if split == number] for number in dict.fromkeys(split for split, _ in made)]


if __name__ == "__main__":
    main()
