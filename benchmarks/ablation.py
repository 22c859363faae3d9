"""What each part of training and of the model is worth on validation nodes: results/ablation/validation.csv.

``python -m benchmarks.ablation`` runs what is missing and can be interrupted and resumed at any time; ``--report`` only
writes the table of docs/results.md. Test labels are hidden: the figures choose what belongs to the method.
"""

import argparse
from collections.abc import Callable, Iterator
from copy import copy
from pathlib import Path
from statistics import fmean, stdev
from time import process_time
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from benchmarks import table
from benchmarks.page import fill, markdown
from benchmarks.table import Row
from ncgnn.calibration.calibration import fit_temperature, heat
from ncgnn.data import complete, load_dataset, usual_split
from ncgnn.data.splits import hide_test_labels
from ncgnn.files import atomic
from ncgnn.models import PreparedGraph, find_model
from ncgnn.models.ncgnn import MODEL, Config
from ncgnn.models.ncgnn.portfolio import AVERAGED
from ncgnn.provenance import machine
from ncgnn.search.attempts import Attempt, Result, Trainer
from ncgnn.search.refit import refit
from ncgnn.train.epoch import accuracy
from ncgnn.train.loop import class_scores
from ncgnn.train.reproducible import use_threads
from ncgnn.train.soft_targets import soft_targets

ROOT = Path(__file__).parents[1]
RESULTS, PAGE = ROOT / "results/ablation/validation.csv", ROOT / "docs/results.md"
TRAINED = ROOT / "runs/ablation"
GRAPHS = ("texas", "cora", "citeseer", "chameleon", "syn-cora:0.5", "amazon-photo")
SPLITS = 3
KEY = ("graph", "variant", "split")

PAGERANK: dict[str, Any] = {"filter": "diffusion", "alpha": 0.1, "steps": 10}
BELIEFS: dict[str, Any] = {"groups": [{"reads": "beliefs", "scale": 0.3}]}
EARLY: dict[str, Any] = {"dropout": 0.0, "early_dropout": 0.5}
SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "dropout before normalisation": EARLY,
    "dropout before normalisation, same rate": {"dropout": 0.0, "early_dropout": Config().dropout},
    "dropout of features": {"feature_dropout": 0.5},
    "averaged weights": {"averaging": 0.9},
    "decay of the first weights": {"decay": "first"},
    "all four": AVERAGED,
    "PageRank": PAGERANK,
    "all four, PageRank": AVERAGED | PAGERANK,
    "beliefs": BELIEFS,
    "all four, beliefs": AVERAGED | BELIEFS,
    "links": {"groups": [{"reads": "links"}]},
    "neighbours apart": {"hops": [0], "groups": [{"hops": [1]}, {"hops": [2]}]},
}


def alone(variant: str) -> Callable[[Trainer], float]:
    """Other settings, labels alone."""
    return lambda trainer: _fit(trainer, SETTINGS[variant]).accuracy


def taught(*teachers: str) -> Callable[[Trainer], float]:
    """The default, towards what it says itself, what two seeds of it say, or what APPNP says."""

    def measured(trainer: Trainer) -> float:
        said = [one for teacher in teachers for one in TEACHERS[teacher](trainer)]
        return _fit(trainer, {}, soft_targets(said, trainer.graph.data)).accuracy

    return measured


def prior_corrected(trainer: Trainer) -> float:
    """The default, its class shares corrected to those that expectation-maximisation finds on all nodes."""
    data, result = trainer.graph.data, _fit(trainer, {})
    val, y = data.val_mask.numpy(), data.y.numpy()
    shares = result.shares.double().numpy()
    p = heat(shares, fit_temperature(shares[val], y[val]))
    own = np.bincount(y[data.train_mask.numpy()], minlength=p.shape[1]) / int(data.train_mask.sum())
    own = np.maximum(own, 1e-6)
    prior = own
    for _ in range(100):
        scaled = p * (prior / own)
        prior = (scaled / scaled.sum(axis=1, keepdims=True)).mean(axis=0)
    corrected = torch.from_numpy(p * (prior / own))
    return accuracy(corrected, data.y, data.val_mask)


def refitted(again: bool) -> Callable[[Trainer], float]:
    """Half of the validation nodes choose the epoch, the other half judge: before, and after they are trained on."""

    def measured(trainer: Trainer) -> float:
        chosen, judges = halved(trainer.graph.data)
        graph = trainer.graph.with_split(chosen)
        config = Config.make({})
        fitted = MODEL.fit(MODEL.prepare(graph, config), graph.data, config)
        if again:
            graph, fitted = refit(graph, MODEL, config, fitted.best.epoch)
        scores = class_scores(fitted.module, MODEL.prepare(graph, config))
        return accuracy(scores, trainer.graph.data.y, judges)

    return measured


def halved(data: Data) -> tuple[Data, Tensor]:
    """The split with half of its validation nodes, and the other half as a mask, their labels hidden in the split."""
    order = np.random.default_rng(0).permutation(data.val_mask.nonzero().flatten().numpy())
    judges = torch.zeros_like(data.val_mask)
    judges[order[len(order) // 2 :]] = True
    out = copy(data)
    out.val_mask, out.y = data.val_mask & ~judges, torch.where(judges, -1, data.y)
    return out, judges


def _fit(trainer: Trainer, settings: dict[str, Any], targets: Tensor | None = None, seed: int = 0) -> Result:
    return trainer.run(Attempt(MODEL, Config.make(settings | {"seed": seed}), targets))


def _appnp(trainer: Trainer) -> list[Tensor]:
    model = find_model("appnp")
    found = [trainer.run(Attempt(model, settings)) for settings in model.candidates()]
    return [max(found, key=lambda one: one.fitted.best.rank).shares]


TEACHERS: dict[str, Callable[[Trainer], list[Tensor]]] = {
    "self": lambda trainer: [_fit(trainer, {}).shares],
    "seeds": lambda trainer: [_fit(trainer, {}, seed=seed).shares for seed in (0, 1, 2)],
    "APPNP": _appnp,
}
VARIANTS: dict[str, Callable[[Trainer], float]] = {
    **{variant: alone(variant) for variant in SETTINGS},
    "soft targets: itself": taught("self"),
    "soft targets: three seeds": taught("seeds"),
    "soft targets: APPNP": taught("APPNP"),
    "soft targets: three seeds and APPNP": taught("seeds", "APPNP"),
    "class prior by EM": prior_corrected,
    "half of the validation nodes": refitted(False),
    "half of the validation nodes, refitted": refitted(True),
}
BASES = {"half of the validation nodes, refitted": "half of the validation nodes"}
"""What a variant is compared with, where that is not the default."""


def orders(graphs: tuple[str, ...]) -> Iterator[tuple[str, int, str]]:
    """Graph, split and variant: all variants of a split before the next split."""
    yield from ((graph, split, variant) for split in range(SPLITS) for graph in graphs for variant in VARIANTS)


def measure(graph: str, split: int, variant: str) -> Row:
    """Validation accuracy of one variant, seed 0, averaged over consecutive epochs; seconds without what an
    earlier variant has trained."""
    data = hide_test_labels(usual_split(complete(load_dataset(graph)), split))
    start = process_time()
    with use_threads(1):
        found = VARIANTS[variant](Trainer(PreparedGraph.of_complete(data), TRAINED))
    seconds = round(process_time() - start, 1)
    return {"graph": graph, "variant": variant, "split": split, "val_accuracy": round(found, 6)} | {
        "cpu_seconds": seconds,
        **machine(),
    }


def render(rows: list[Row]) -> str:
    """Gains over the base in points, mean and standard error over splits; of one split without an error."""
    found = {(row["graph"], row["variant"], row["split"]): row["val_accuracy"] for row in rows}
    lines = []
    for variant in VARIANTS:
        base = BASES.get(variant, "default")
        if variant in (base, *BASES.values()):
            continue
        cells = [_gain(found, graph, variant, base) for graph in GRAPHS]
        lines.append([variant, *cells])
    return markdown(["change of the default, gain in points", *GRAPHS], lines)


def _gain(found: dict[tuple[str, str, int], float], graph: str, variant: str, base: str) -> str:
    splits = [s for s in range(SPLITS) if (graph, variant, s) in found and (graph, base, s) in found]
    gains = [100 * (found[graph, variant, s] - found[graph, base, s]) for s in splits]
    if len(gains) < 2:
        return f"{gains[0]:+.1f}" if gains else "-"
    return f"{fmean(gains):+.1f} ± {stdev(gains) / len(gains) ** 0.5:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", nargs="+", choices=GRAPHS, default=GRAPHS)
    parser.add_argument("--report", action="store_true", help="run nothing")
    options = parser.parse_args()
    for graph, split, variant in [] if options.report else orders(tuple(options.graphs)):
        if not table.holds(table.read(RESULTS), {"graph": graph, "variant": variant, "split": split}):
            row = measure(graph, split, variant)
            table.keep(RESULTS, [row], KEY)
            print(graph, split, variant, row["val_accuracy"], flush=True)
    text = fill(PAGE.read_text("utf-8"), "ablation", render(table.read(RESULTS)))
    with atomic(PAGE) as file:
        file.write(text)


if __name__ == "__main__":
    main()
