"""One run of one cell, from the graph to the row that is kept of it."""

from dataclasses import dataclass
from time import perf_counter

import torch
from sklearn.metrics import roc_auc_score
from torch import Tensor
from torch_geometric.data import Data

from ncgnn import baselines
from ncgnn.data.splits import hide_test_labels
from ncgnn.errors import InputError
from ncgnn.experiments.cells import Cell
from ncgnn.experiments.graphs import graph, version_at_hand
from ncgnn.experiments.protocol import draw_split
from ncgnn.experiments.recipes import Recipe, with_seed
from ncgnn.experiments.rows import Row
from ncgnn.models.base.features import prepare_features
from ncgnn.models.base.filter_cache import filter_folder, prepare_filter
from ncgnn.nn import proportions
from ncgnn.provenance import origin
from ncgnn.sparse import cheaper_operator
from ncgnn.train.epoch import Epoch, accuracy
from ncgnn.train.reproducible import use_threads
from ncgnn.train.run import fit


@dataclass(frozen=True)
class Run:
    """What is to be run; ``graph`` is the version of the graph."""

    cell: Cell
    split: int
    seed: int
    recipe: Recipe
    graph: str

    @property
    def key(self) -> tuple[str, ...]:
        cell = self.cell
        numbers = str(self.split), str(self.seed), self.recipe.hash
        return cell.table, cell.dataset, cell.setting, cell.model, *numbers, self.graph


@dataclass(frozen=True)
class Failure:
    """A run that came to no result, and why."""

    run: Run
    reason: str

    def __str__(self) -> str:
        return f"{self.run.cell}, split {self.run.split}, seed {self.run.seed}: {self.reason}"


def perform(run: Run) -> Row | Failure:
    """Train without the test labels, then look at them once. One run that diverges must not end all others."""
    start, made = perf_counter(), origin()  # the code that runs, whatever is committed meanwhile
    try:
        with use_threads(1):  # the outcome must not depend on how many cores a machine has
            data = draw_split(_planned_graph(run), run.cell, run.split)
            probabilities, best = _train(hide_test_labels(data), with_seed(run.recipe, run.seed))
    except InputError as error:
        return Failure(run, str(error))
    return _row(run, data, probabilities, best, perf_counter() - start, made)


def _planned_graph(run: Run) -> Data:
    """The graph, unless it is not the one that the run is known by: another machine may have another."""
    here = version_at_hand(run.cell.graph)
    if here != run.graph:
        raise InputError(f"the graph at hand has version {here}, not {run.graph}: give all machines the same graphs")
    return graph(run.cell.graph)


def _train(data: Data, settings: Recipe) -> tuple[Tensor, Epoch]:
    """Class probabilities of all nodes, and the epoch whose weights they come from."""
    if isinstance(settings, baselines.Settings):
        result = baselines.fit(data, settings)
        return result.scores.softmax(dim=1), result.best
    x = prepare_features(data.x, settings.normalize_features)
    prepared = prepare_filter(settings.make_filter(), data, x.dtype, filter_folder())
    trained = fit(data, x, prepared, settings, on_epoch=lambda epoch: None)
    with torch.no_grad():
        lengths = trained.model(cheaper_operator(x), prepared)
    return proportions(lengths), trained.best


def _row(run: Run, data: Data, probabilities: Tensor, best: Epoch, seconds: float, made: dict[str, str]) -> Row:
    y, test = data.y, data.test_mask
    is_binary = len(data.class_names) == 2
    area = f"{roc_auc_score(y[test].numpy(), probabilities[test, 1].numpy()):.6f}" if is_binary else ""
    result = {
        "val_accuracy": f"{best.val_accuracy:.6f}",
        "test_accuracy": f"{accuracy(probabilities, y, test):.6f}",
        "roc_auc": area,
        "epoch": str(best.epoch),
        "seconds": f"{seconds:.1f}",
    }
    return Row(**dict(zip(Row._fields, run.key, strict=False)), **result, **made)
