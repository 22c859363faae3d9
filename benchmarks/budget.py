"""What a search costs, in trainings with the default settings: results/default/budget.csv.

``python -m benchmarks.budget`` measures CPU time with one thread, test labels hidden, and fills in docs/search.md;
``--report`` only does the latter.
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from time import process_time

from threadpoolctl import threadpool_limits

from benchmarks import table
from benchmarks.default import LEVEL, as_command, divided, searched
from benchmarks.page import fill, made_on, markdown
from benchmarks.table import Row
from ncgnn.data.splits import hide_test_labels
from ncgnn.files import atomic
from ncgnn.models import PreparedGraph
from ncgnn.models.ncgnn import MODEL as NCGNN
from ncgnn.models.ncgnn import Config
from ncgnn.provenance import machine
from ncgnn.train.reproducible import use_threads

ROOT = Path(__file__).parents[1]
RESULTS, PAGE = ROOT / "results/default/budget.csv", ROOT / "docs/search.md"
GRAPHS = ("texas", "cora", "chameleon", "syn-cora:0.5")


def measure(graph: str) -> Row:
    """Seconds of one training with the default settings, of a search, and of one with rivals; split 0."""
    prepared, config = PreparedGraph.of_complete(hide_test_labels(divided(graph, 0))), Config.make({})
    with use_threads(1), threadpool_limits(1):
        where = machine()
        NCGNN.fit(NCGNN.prepare(prepared, config), prepared.data, config.model_copy(update={"epochs": 2}))  # compiles
        one = _seconds(lambda: NCGNN.fit(NCGNN.prepare(prepared, config), prepared.data, config))
        alone = _seconds(lambda: searched(NCGNN, (), prepared))
        together = _seconds(lambda: as_command(prepared, []))
    ratios = {"ratio": round(alone / one, 1), "ratio_with_rivals": round(together / one, 1)}
    return {"graph": graph, "level": LEVEL, "one_training": round(one, 1)} | ratios | where


def _seconds(work: Callable[[], object]) -> float:
    start = process_time()
    work()
    return process_time() - start


def render(rows: list[Row]) -> str:
    head = ["graph", "one training, seconds", "search", "with the simpler models"]
    lines = [[row["graph"], row["one_training"], row["ratio"], row["ratio_with_rivals"]] for row in rows]
    return f"{markdown(head, lines)}\n\n{made_on(rows)}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--report", action="store_true", help="measure nothing; write the table of docs/search.md")
    for graph in () if parser.parse_args(arguments).report else GRAPHS:
        row = measure(graph)
        table.keep(RESULTS, [row], ("graph", "level"))
        print(graph, row["one_training"], row["ratio"], row["ratio_with_rivals"], flush=True)
    text = fill(PAGE.read_text("utf-8"), "budget", render(table.read(RESULTS)))
    with atomic(PAGE) as file:
        file.write(text)


if __name__ == "__main__":
    main()
