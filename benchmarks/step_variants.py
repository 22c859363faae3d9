"""What would make an epoch cheaper, and what it costs in accuracy: results/step-variants.csv.

``python -m benchmarks.step_variants`` runs what is missing and can be interrupted and resumed at any time; ``--report``
only writes the table of docs/performance.md. Each row compares a variant with training without it, on one split with
the same seed, in one process with one thread; the time of an epoch is the least of several, in turns.

- ``nodes in another order``: reverse Cuthill-McKee, so that neighbours are close to each other in memory
- ``bf16``: products with dense features in 16 bits
- ``validation every 5 epochs``: on the full batch, and in batches, where the library does so
"""

import argparse
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from statistics import fmean, stdev
from time import process_time
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import reverse_cuthill_mckee
from torch import Tensor
from torch_geometric.data import Data

from benchmarks import table
from benchmarks.page import NOTHING, fill, made_on, markdown
from benchmarks.table import Row
from ncgnn.data import complete, load_dataset, split_stratified, usual_split
from ncgnn.files import atomic
from ncgnn.models import PreparedGraph, Sizes
from ncgnn.models.ncgnn import MODEL, Config
from ncgnn.provenance import machine
from ncgnn.sparse import Dense
from ncgnn.train import loop
from ncgnn.train.epoch import accuracy
from ncgnn.train.reproducible import use_threads

ROOT = Path(__file__).parents[1]
RESULTS, PAGE = ROOT / "results/step-variants.csv", ROOT / "docs/performance.md"
KEY = ("variant", "graph", "split")
SPLITS, REPEATS, EVERY = range(5), 6, 5
ORDER, BF16, SELDOM = "nodes in another order", "bf16", f"validation every {EVERY} epochs"
BATCHES = {"top_k": 32, "batch": 256}
CASES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    (ORDER, "pubmed", {}),
    (ORDER, "amazon-photo", {}),
    (BF16, "amazon-photo", {}),
    (SELDOM, "cora", {}),
    (SELDOM, "amazon-photo", {}),
    (SELDOM, "pubmed, in batches", BATCHES),
    (SELDOM, "large:20000, in batches", BATCHES),
)


def graph_of(name: str, split: int) -> Data:
    data = complete(load_dataset(name.partition(",")[0]))
    return split_stratified(data, 0.02, 0.02, seed=split) if name.startswith("large") else usual_split(data, split)


def reordered(data: Data) -> Data:
    """The same graph with other node numbers."""
    source, target = data.edge_index.numpy()
    adjacency = coo_matrix((np.ones(len(source)), (source, target)), (data.num_nodes, data.num_nodes)).tocsr()
    order = torch.from_numpy(reverse_cuthill_mckee(adjacency, symmetric_mode=True).astype(np.int64))
    place = torch.empty_like(order)
    place[order] = torch.arange(len(order))
    out = data.clone()
    out.edge_index = place[data.edge_index]
    for key in ("x", "y", "train_mask", "val_mask", "test_mask"):
        out[key] = _taken(data[key], order)
    return out


def _taken(values: Tensor, order: Tensor) -> Tensor:
    is_sparse = values.layout == torch.sparse_csr
    return values.to_dense()[order].to_sparse_csr() if is_sparse else values[order]


@contextmanager
def in_bf16() -> Iterator[None]:
    """Dense products of features, forward and backward."""

    def product(self: Dense, dense: Tensor) -> Tensor:
        return (self.matrix.detach().bfloat16() @ dense.detach().bfloat16()).float()

    def gradients(self: Dense, dense: Tensor, grad: Tensor, of_parameter: bool) -> tuple[Tensor | None, Tensor]:
        return None, (self.matrix.detach().bfloat16().t() @ grad.bfloat16()).float()

    with patch.object(Dense, "product", product), patch.object(Dense, "gradients", gradients):
        yield


@contextmanager
def seldom() -> Iterator[None]:
    """Between two validations, the last one counts as that of the epoch."""
    real, last, calls = loop._validate, [(0.0, 0.0)], [0]

    def validate(*arguments: Any) -> tuple[float, float]:
        if calls[0] % EVERY == 0:
            last[0] = real(*arguments)
        calls[0] += 1
        return last[0]

    with patch.object(loop, "_validate", validate):
        yield


CHANGES: dict[str, Callable[[], AbstractContextManager[None]]] = {ORDER: nullcontext, BF16: in_bf16, SELDOM: seldom}


def measure(variant: str, graph: str, changes: dict[str, Any], split: int) -> Row:
    """Test accuracies after a whole training, and seconds of an epoch."""
    config, data = Config.make(changes), graph_of(graph, split)
    with use_threads(1), patch("ncgnn.models.ncgnn.VALIDATE_EVERY", 1):
        plain = _Way(data, config, nullcontext)
        changed = _Way(reordered(data) if variant == ORDER else data, config, CHANGES[variant])
        found = {"test_accuracy": plain.accuracy(), "changed_test_accuracy": changed.accuracy()}
        times = [(plain.epoch(), changed.epoch()) for _ in range(REPEATS)]
    before, after = (round(min(part), 5) for part in zip(*times, strict=True))
    row = {"variant": variant, "graph": graph, "split": split, "config": config.hash}
    return row | found | {"epoch_seconds": before, "changed_epoch_seconds": after} | machine()


class _Way:
    """A way to train a model on a graph."""

    def __init__(self, data: Data, config: Config, change: Callable[[], AbstractContextManager[None]]) -> None:
        self.data, self.config, self.change = data, config, change
        self.inputs = MODEL.prepare(PreparedGraph.of_complete(data), config)

    def accuracy(self) -> float:
        with self.change():
            fitted = MODEL.fit(self.inputs, self.data, self.config)
        scores, _ = MODEL.scores(fitted.module, self.inputs)
        return round(accuracy(scores, self.data.y, self.data.test_mask), 6)

    def epoch(self) -> float:
        """Mean CPU seconds of a few epochs."""
        module = MODEL.build(Sizes.of(self.data), self.config)
        how = MODEL.training(module, self.config)
        with self.change():
            start = process_time()
            loop.train(module, self.inputs, self.data, replace(how, epochs=EVERY))
            return (process_time() - start) / EVERY


def render(rows: list[Row]) -> str:
    """Mean gain in time and points over the splits."""
    lines = []
    for variant, graph, _ in CASES:
        own = [row for row in rows if (row["variant"], row["graph"]) == (variant, graph)]
        if not own:
            continue
        points = [100 * (row["changed_test_accuracy"] - row["test_accuracy"]) for row in own]
        ratio = fmean(row["epoch_seconds"] / row["changed_epoch_seconds"] for row in own)
        error = f" ± {stdev(points) / len(points) ** 0.5:.1f}" if len(points) > 1 else ""
        lines.append([variant, graph, len(own), f"{ratio:.2f}", f"{fmean(points):+.1f}{error}"])
    head = ["variant", "graph", "splits", "epochs as fast", "points of test accuracy"]
    return f"{markdown(head, lines)}\n\n{made_on(rows)}" if rows else NOTHING


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--report", action="store_true", help="run nothing")
    is_report = parser.parse_args().report
    for split in [] if is_report else SPLITS:
        for variant, graph, changes in CASES:
            if not table.holds(table.read(RESULTS), {"variant": variant, "graph": graph, "split": split}):
                row = measure(variant, graph, changes, split)
                table.keep(RESULTS, [row], KEY)
                print(variant, graph, split, *list(row.values())[4:8], flush=True)
    text = fill(PAGE.read_text("utf-8"), "step-variants", render(table.read(RESULTS)))
    with atomic(PAGE) as file:
        file.write(text)


if __name__ == "__main__":
    main()
