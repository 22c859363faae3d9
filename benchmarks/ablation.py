"""What each part of training is worth on validation nodes: results/ablation/validation.csv.

``python -m benchmarks.ablation`` runs what is missing and can be interrupted and resumed at any time. Test labels are
hidden; the figures choose settings and are no result.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import Any

from benchmarks import table
from benchmarks.table import Row
from ncgnn.data import complete, load_dataset, usual_split
from ncgnn.data.splits import hide_test_labels
from ncgnn.models import PreparedGraph
from ncgnn.models.ncgnn import MODEL, Config
from ncgnn.provenance import machine
from ncgnn.train.reproducible import use_threads

RESULTS = Path(__file__).parents[1] / "results/ablation/validation.csv"
GRAPHS = ("texas", "cora", "citeseer", "chameleon", "syn-cora:0.5", "amazon-photo")
SPLITS = 3
KEY = ("graph", "variant", "split")

EARLY: dict[str, Any] = {"dropout": 0.0, "early_dropout": 0.5}
REGIME = EARLY | {"feature_dropout": 0.5, "decay": "first", "weight_decay": 5e-3, "lr": 0.01, "averaging": 0.9}
VARIANTS: dict[str, dict[str, Any]] = {
    "default": {},
    "self-taught": {"self_taught": True},
    "regime": REGIME,
    "regime, self-taught": REGIME | {"self_taught": True},
    "averaged weights": {"averaging": 0.9},
    "early dropout": EARLY,
    "dropout of features": {"feature_dropout": 0.5},
    "decay of the first weights": {"decay": "first"},
}


def orders(graphs: tuple[str, ...]) -> Iterator[tuple[str, int, str]]:
    """Graph, split and variant: all variants of a split before the next split."""
    yield from ((graph, split, variant) for split in range(SPLITS) for graph in graphs for variant in VARIANTS)


def measure(graph: str, split: int, variant: str) -> Row:
    """The best validation accuracy of one run, seed 0."""
    data = hide_test_labels(usual_split(complete(load_dataset(graph)), split))
    config, start = Config.make(VARIANTS[variant]), process_time()
    with use_threads(1):
        prepared = PreparedGraph.of_complete(data)
        best = MODEL.fit(MODEL.prepare(prepared, config), prepared.data, config).best
    found = {"val_accuracy": round(best.val_accuracy, 6), "epoch": best.epoch}
    seconds = {"cpu_seconds": round(process_time() - start, 1), "config": config.hash}
    return {"graph": graph, "variant": variant, "split": split} | found | seconds | machine()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", nargs="+", choices=GRAPHS, default=GRAPHS)
    for graph, split, variant in orders(tuple(parser.parse_args().graphs)):
        wanted = {"graph": graph, "variant": variant, "split": split, "config": Config.make(VARIANTS[variant]).hash}
        if not table.holds(table.read(RESULTS), wanted):
            row = measure(graph, split, variant)
            table.keep(RESULTS, [row], KEY)
            print(graph, split, variant, row["val_accuracy"], flush=True)


if __name__ == "__main__":
    main()
