"""One run of one cell, from the graph to the stored row."""

from dataclasses import dataclass
from functools import partial
from time import process_time

from sklearn.metrics import roc_auc_score
from torch import Tensor
from torch_geometric.data import Data

from ncgnn.data.splits import hide_test_labels
from ncgnn.errors import InputError
from ncgnn.experiments.cells import Cell
from ncgnn.experiments.protocol import draw_split, graph, version_at_hand, without_edges
from ncgnn.experiments.recipes import Recipe
from ncgnn.experiments.rows import RunRow
from ncgnn.models import PreparedGraph
from ncgnn.provenance import origin
from ncgnn.train.epoch import Epoch, accuracy
from ncgnn.train.loop import class_scores
from ncgnn.train.reproducible import use_threads
from ncgnn.train.soft_targets import soft_targets, taught


@dataclass(frozen=True)
class Run:
    """A run to do; ``graph`` is the version of the graph."""

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
    """A failed run, and why it failed."""

    run: Run
    reason: str

    def __str__(self) -> str:
        return f"{self.run.cell}, split {self.run.split}, seed {self.run.seed}: {self.reason}"


def perform(run: Run) -> RunRow | Failure:
    """Train without test labels, then evaluate on them once. A run that diverges must not stop the others."""
    start, made = process_time(), origin()  # the running code, even if there are new commits in the meantime
    try:
        with use_threads(1):  # the result must not depend on the number of cores
            whole = draw_split(_planned_graph(run), run.cell, run.split)
            data = without_edges(whole, run.cell.removed, run.seed)
            graph = PreparedGraph.of_complete(hide_test_labels(data))
            probabilities, best = train_recipe(graph, run.recipe, run.seed)
    except InputError as error:
        return Failure(run, str(error))
    return _row(run, data, probabilities, best, process_time() - start, made)


def _planned_graph(run: Run) -> Data:
    """The graph, after checking its version: another machine may have a different one."""
    here = version_at_hand(run.cell.graph)
    if here != run.graph:
        raise InputError(f"the local graph has version {here}, not {run.graph}: use the same graphs on all machines")
    return graph(run.cell.graph)


def train_recipe(graph: PreparedGraph, recipe: Recipe, seed: int) -> tuple[Tensor, Epoch]:
    """Class probabilities of all nodes, and the epoch of the weights. Teachers come first, with the same seed."""
    model, settings = recipe.definition, recipe.settings.model_copy(update={"seed": seed})
    said = [train_recipe(graph, teacher, seed)[0] for teacher in recipe.teachers]
    targets = soft_targets(said, graph.data) if said else None
    inputs = model.prepare(graph, settings)
    fitted = model.fit(inputs, graph.data, settings, change=partial(taught, targets=targets))
    return model.probabilities(class_scores(fitted.module, inputs)), fitted.best


def _row(run: Run, data: Data, probabilities: Tensor, best: Epoch, seconds: float, made: dict[str, str]) -> RunRow:
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
    return RunRow(**dict(zip(RunRow._fields, run.key, strict=False)), **result, **made)
