"""One run of one cell, from the graph to the row that is kept of it."""

from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.metadata import version
from time import perf_counter
from typing import Any

import torch
from sklearn.metrics import roc_auc_score
from torch import Tensor
from torch_geometric.data import Data

from ncgnn import baselines
from ncgnn.bench.machine import machine, use_threads
from ncgnn.data import complete, load_dataset
from ncgnn.errors import InputError
from ncgnn.experiments.cells import Cell
from ncgnn.experiments.protocol import draw_split, hide_test_labels
from ncgnn.experiments.recipes import Recipe, config_hash, with_seed
from ncgnn.experiments.rows import Row
from ncgnn.nn import PreparedFilter
from ncgnn.sparse import cheaper_operator
from ncgnn.train.config import Config
from ncgnn.train.run import Epoch, accuracy, fit, prepare_features


@dataclass(frozen=True)
class Run:
    """What is to be run."""

    cell: Cell
    split: int
    seed: int
    recipe: Recipe

    @property
    def key(self) -> tuple[str, ...]:
        cell = self.cell
        numbers = str(self.split), str(self.seed), config_hash(self.recipe)
        return cell.table, cell.dataset, cell.setting, cell.model, *numbers


def perform(run: Run) -> Row:
    """Train without the test labels, then look at them once."""
    start = perf_counter()
    with use_threads(1):  # the outcome must not depend on how many cores a machine has
        data = draw_split(_graph(run.cell.graph), run.cell, run.split)
        try:
            probabilities, best = _train(hide_test_labels(data), with_seed(run.recipe, run.seed))
        except InputError as error:
            raise InputError(f"{run.cell}, split {run.split}, seed {run.seed}: {error}") from None
    return _row(run, data, probabilities, best, perf_counter() - start)


def _train(data: Data, settings: Recipe) -> tuple[Tensor, Epoch]:
    """Class probabilities of all nodes, and the epoch whose weights they come from."""
    if isinstance(settings, baselines.Settings):
        result = baselines.fit(data, settings)
        return result.scores.softmax(dim=1), result.best
    x, prepared = _features(data.name, settings.normalize_features), _filter(data.name, _filter_key(settings))
    trained = fit(data, x, prepared, settings, on_epoch=lambda epoch: None)
    with torch.no_grad():
        lengths = trained.model(cheaper_operator(x), prepared)
    return lengths / lengths.sum(dim=1, keepdim=True).clamp(min=torch.finfo(lengths.dtype).tiny), trained.best


def _row(run: Run, data: Data, probabilities: Tensor, best: Epoch, seconds: float) -> Row:
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
    return Row(**dict(zip(Row._fields, run.key, strict=False)), **result, **_code())


# A worker has the runs of one graph in a row: each of these keeps what it was asked for last.


@lru_cache(maxsize=1)
def _graph(name: str) -> Data:
    data = complete(load_dataset(name))
    data.name = name
    return data


@lru_cache(maxsize=1)
def _features(name: str, normalize: bool) -> Tensor:
    return prepare_features(_graph(name).x, normalize)


@lru_cache(maxsize=1)
def _filter(name: str, settings: str) -> PreparedFilter:
    data = _graph(name)
    made = Config.model_validate_json(settings).make_filter()
    return made.prepare(data.edge_index, data.num_nodes, data.get("edge_weight"))


def _filter_key(config: Config) -> str:
    keys = {"filter", "hops", "zeta_prior", "diffusion", "alpha", "time", "steps", "top_k", "epsilon", "tolerance"}
    return config.model_dump_json(include=keys)


@cache
def _code() -> dict[str, Any]:
    """The versions and the commit; a plus sign says that the sources differ from it."""
    here = machine()
    versions = {"ncgnn": here["ncgnn"], "torch": here["torch"], "pyg": here["torch_geometric"]}
    return versions | {"numpy": version("numpy"), "commit": here["commit"]}
