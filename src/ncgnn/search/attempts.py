"""The trainings of a search, each stored as soon as it ends, so that an interrupted search continues where it was."""

import hashlib
import json
import warnings
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from statistics import fmean
from time import monotonic, perf_counter
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor
from torch_geometric.data import Data

from ncgnn.calibration.calibration import fit_temperature, heat, smoothed_loss
from ncgnn.data.fingerprint import fingerprint_with_split
from ncgnn.data.splits import redrawn
from ncgnn.files import atomic
from ncgnn.models import Fitted, Model, PreparedGraph, RunSettings, Sizes
from ncgnn.provenance import versions
from ncgnn.train import Epoch
from ncgnn.train.soft_targets import taught

WINDOW = 10
"""Epochs over which validation accuracy is averaged: the best of many noisy epochs is no fair measure."""

LOSS_WEIGHT = 0.05
"""Share of the calibrated log-loss in the rank of a training."""

_KEY = "attempt"
_SHARES = "attempt/shares"
_CHECKSUM = "checksum"
_DAMAGED = (OSError, SafetensorError, ValueError, KeyError, TypeError, AttributeError, RecursionError)


@dataclass(frozen=True, eq=False)
class Attempt:
    """What to train: a model with its settings, on the given split (``draw`` 0) or a resampled one, towards the labels
    and, if there are any, soft targets [N, C]."""

    model: Model[Any]
    settings: RunSettings
    targets: Tensor | None = None
    draw: int = 0


@dataclass(frozen=True, eq=False)
class Result:
    """A finished training: the module, and the normalised scores of all nodes [N, C]."""

    attempt: Attempt
    fitted: Fitted
    shares: Tensor
    seconds: float
    is_collapsed: bool
    log_loss: float

    @property
    def rank(self) -> float:
        """For comparing trainings: validation accuracy, less a little of the calibrated log-loss, which still tells
        trainings apart whose accuracies are equal."""
        return self.accuracy - LOSS_WEIGHT * self.log_loss

    @cached_property
    def accuracy(self) -> float:
        """Validation accuracy, the best mean over several consecutive epochs."""
        found = [epoch.val_accuracy for epoch in self.fitted.history]
        ends = range(min(WINDOW, len(found)), len(found) + 1)
        return max(fmean(found[max(0, end - WINDOW) : end]) for end in ends)


class OutOfTime(Exception):
    """The time for the search is over."""


class Trainer:
    """Trains attempts on one graph, and remembers them.

    Args:
        graph: with its split.
        folder: where to store results; None to store nothing.
        deadline: when to stop, as told by :func:`time.monotonic`; None for never.
    """

    def __init__(self, graph: PreparedGraph, folder: Path | None = None, deadline: float | None = None) -> None:
        self.graph, self.folder, self.deadline = graph, folder, deadline
        self._drawn: dict[int, PreparedGraph] = {0: graph}

    def run(self, attempt: Attempt) -> Result:
        path = None if self.folder is None else self.folder / f"{self._key(attempt)}.safetensors"
        stored = None if path is None else self._read(path, attempt)
        if stored is not None:
            return stored
        result = self._train(attempt)
        if path is not None:
            self._keep(path, result)
        return result

    def _train(self, attempt: Attempt) -> Result:
        self._check_time()
        start, graph = perf_counter(), self._graph(attempt.draw)
        inputs = attempt.model.prepare(graph, attempt.settings)
        change = {} if attempt.targets is None else {"change": partial(taught, targets=attempt.targets)}
        fitted = attempt.model.fit(inputs, graph.data, attempt.settings, lambda epoch: self._check_time(), **change)
        shares = attempt.model.probabilities(attempt.model.scores(fitted.module, inputs)[0])
        judged = is_collapsed(shares, graph.data), log_loss(shares, graph.data)
        return Result(attempt, fitted, shares, perf_counter() - start, *judged)

    def _check_time(self) -> None:
        if self.deadline is not None and monotonic() > self.deadline:
            raise OutOfTime

    def _graph(self, draw: int) -> PreparedGraph:
        if draw not in self._drawn:
            self._drawn[draw] = self.graph.with_split(redrawn(self.graph.data, draw))
        return self._drawn[draw]

    @cached_property
    def _of_graph(self) -> str:
        return fingerprint_with_split(self.graph.data)

    def _key(self, attempt: Attempt) -> str:
        """The name of everything that the result depends on."""
        targets = attempt.targets
        taught = "" if targets is None else hashlib.sha256(targets.numpy().tobytes()).hexdigest()
        settings = attempt.settings.model_dump(mode="json")
        what = [versions("ncgnn"), self._of_graph, attempt.model.name, settings, taught, attempt.draw]
        text = json.dumps(what, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def _keep(self, path: Path, result: Result) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        state = {
            name: tensor.detach().clone().contiguous() for name, tensor in result.fitted.module.state_dict().items()
        }
        state[_SHARES] = result.shares.contiguous()
        history = [list(epoch) for epoch in result.fitted.history]
        about = {"history": history, "best": list(result.fitted.best), "seconds": result.seconds}
        with atomic(path, "wb") as file:
            file.write(save(state, {_KEY: json.dumps(about | {_CHECKSUM: _checksum(state, about)})}))

    def _read(self, path: Path, attempt: Attempt) -> Result | None:
        """A stored result; None if there is none, or a damaged one."""
        if not path.is_file():
            return None
        try:
            state, about = _intact(path.read_bytes())
        except _DAMAGED as error:
            warnings.warn(f"{path}: not a stored training; training again ({error})", UserWarning, stacklevel=2)
            return None
        shares = state.pop(_SHARES)
        with torch.random.fork_rng(devices=[]):  # weights that are drawn only to be overwritten
            module = attempt.model.restore(state, Sizes.of(self.graph.data), attempt.settings).eval()
        history, best = [Epoch(*values) for values in about["history"]], Epoch(*about["best"])
        data = self._graph(attempt.draw).data
        judged = is_collapsed(shares, data), log_loss(shares, data)
        return Result(attempt, Fitted(module, best, history), shares, about["seconds"], *judged)


def _intact(content: bytes) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Tensors and description of a stored training; ``ValueError`` unless they are as they were written."""
    state = load(content)
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    about = json.loads(header["__metadata__"][_KEY])
    if about.pop(_CHECKSUM) != _checksum(state, about):
        raise ValueError("its checksum is wrong")
    return state, about


def _checksum(state: dict[str, Tensor], about: dict[str, Any]) -> str:
    return hashlib.sha256(save(state) + json.dumps(about, sort_keys=True).encode()).hexdigest()


def is_collapsed(shares: Tensor, data: Data) -> bool:
    """Whether all validation nodes are predicted as one class, though they have several."""
    val, y = data.val_mask.cpu(), data.y.cpu()
    return len(shares[val].argmax(dim=1).unique()) == 1 < len(y[val].unique())


def log_loss(shares: Tensor, data: Data) -> float:
    """Mean negative log-likelihood of the validation labels, after temperature scaling on them."""
    val = data.val_mask.cpu().numpy()
    found, y = shares.double().numpy()[val], data.y.cpu().numpy()[val]
    return smoothed_loss(heat(found, fit_temperature(found, y)), y)
