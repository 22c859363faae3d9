"""A linear GNN in closed form: least squares on the features and what is left of them after smoothing."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
import torch
from pydantic import Field
from torch import Tensor, nn
from torch_geometric.data import Data

from ncgnn.calibration.calibration import fit_temperature
from ncgnn.data.graph import feature_matrix
from ncgnn.models.base.model import Change, Fitted, Model, OnEpoch, Sizes, in_one_epoch
from ncgnn.models.base.prepared import PreparedGraph
from ncgnn.models.base.settings import RunSettings, Seed
from ncgnn.sparse import CSR, LinearOperator
from ncgnn.train.epoch import accuracy
from ncgnn.train.inputs import Inputs
from ncgnn.train.loop import class_scores

if TYPE_CHECKING:
    from optuna.trial import BaseTrial

RIDGES = tuple(10.0**exponent for exponent in range(1, -7, -1))
"""Penalties that are tried, as multiples of the mean variance of a direction of the training rows."""

_TINY = np.finfo(float).tiny


class LinearSettings(RunSettings):
    """The settings of a linear GNN. Nothing is random, so the seed has no effect."""

    hops: int = Field(2, ge=0, le=16, description="how often features are smoothed")
    high_pass: bool = Field(True, description="also penalise what smoothing removes, so that neighbours may differ")
    equal: bool = Field(True, description="scale the features of each hop to the same variance before the penalty")
    normalize_features: bool = Field(True, description="divide each feature row by its L1 norm")
    seed: Seed = 0


@dataclass(frozen=True)
class Smoothed(Inputs):
    """Features [N, f] and normalised adjacency [N, N] as operators, and the same as SciPy matrices, to choose rows."""

    x: sp.csr_array
    a: sp.csr_matrix

    def rows(self, nodes: np.ndarray, hops: int) -> list[np.ndarray]:
        """Smoothed features of some nodes [n, f], from 0 hops on."""
        reached = sp.csr_matrix(sp.eye_array(self.a.shape[0]))[nodes]
        found = []
        for hop in range(hops + 1):
            reached = reached @ self.a if hop else reached
            found.append((reached @ self.x).toarray().astype(np.float64))
        return found


class LinearGNN(nn.Module):
    r""":math:`\sum_{k=0}^{K} \tilde{\mathbf{A}}^k \mathbf{X} \mathbf{W}_k + \mathbf{b}`.

    The weights are those of ridge regression on the low-pass parts :math:`\tilde{\mathbf{A}}^k \mathbf{X}` and the
    high-pass parts :math:`\tilde{\mathbf{A}}^k \mathbf{X} - \tilde{\mathbf{A}}^{k+1} \mathbf{X}`, added up: high-pass
    parts add no scores that low-pass parts could not give, but a penalty on both makes it cheap that neighbours differ.
    """

    weights: Tensor
    bias: Tensor

    def __init__(self, sizes: Sizes, hops: int) -> None:
        super().__init__()
        self.register_buffer("weights", torch.zeros(hops + 1, sizes.features, sizes.classes))
        self.register_buffer("bias", torch.zeros(sizes.classes))

    def forward(self, x: LinearOperator, a: CSR) -> Tensor:
        *others, last = self.weights
        h: Tensor = x @ last
        for weight in reversed(others):
            h = x @ weight + a @ h
        return h + self.bias


class LinearModel(Model[LinearSettings]):
    """Solved, not trained; the penalty is selected on validation nodes."""

    name, title, settings_class = "linear-gnn", "linear GNN", LinearSettings
    takes_targets = False
    rival = 3

    def prepare(self, graph: PreparedGraph, settings: LinearSettings) -> Smoothed:
        divided, a = settings.normalize_features, graph.adjacency
        parts = a.values.numpy(), a.pattern.indices.numpy(), a.pattern.indptr.numpy()
        matrices = feature_matrix(graph.x(divided)), sp.csr_matrix(parts, shape=a.shape)
        return Smoothed((graph.features(divided), a), *matrices)

    def build(self, sizes: Sizes, settings: LinearSettings) -> LinearGNN:
        return LinearGNN(sizes, settings.hops)

    def fit(
        self,
        inputs: Inputs,
        split: Data,
        settings: LinearSettings,
        on_epoch: OnEpoch = lambda epoch: None,
        change: Change = lambda how: how,
    ) -> Fitted:
        assert isinstance(inputs, Smoothed)
        module, train = self.build(Sizes.of(split), settings), split.train_mask.numpy()
        y = np.eye(len(split.class_names))[split.y.numpy()[train]]
        tried = []
        for weights, bias in solutions(inputs.rows(np.flatnonzero(train), settings.hops), y, settings):
            module.weights, module.bias = (
                torch.from_numpy(weights).to(module.bias),
                torch.from_numpy(bias).to(module.bias),
            )
            tried.append((accuracy(class_scores(module, inputs), split.y, split.val_mask), module.weights, module.bias))
        _, module.weights, module.bias = max(tried, key=lambda one: one[0])
        self._sharpen(module, inputs, split)
        return in_one_epoch(module, self.probabilities(class_scores(module, inputs)), split, on_epoch)

    def _sharpen(self, module: LinearGNN, inputs: Inputs, split: Data) -> None:
        """Scale scores, which least squares keeps between 0 and 1, so that their softmax fits the validation labels."""
        shares = self.probabilities(class_scores(module, inputs))[split.val_mask]
        factor = 1 / fit_temperature(shares.numpy(), split.y[split.val_mask].numpy())
        module.weights, module.bias = factor * module.weights, factor * module.bias

    def candidates(self) -> list[LinearSettings]:
        """With and without high-pass parts, of row-normalised features, which suits words, and of unchanged features,
        which suits numbers; and with the variance that smoothing leaves, which suits graphs whose edges say little."""
        low, raw = {"high_pass": False}, {"normalize_features": False}
        return [LinearSettings.make(values) for values in ({}, low, {"equal": False}, raw, raw | low)]

    def space(self, trial: "BaseTrial", graph: str, variant: str = "") -> dict[str, Any]:
        return {
            "hops": trial.suggest_int("hops", 1, 4),
            "high_pass": trial.suggest_categorical("high_pass", (False, True)),
            "equal": trial.suggest_categorical("equal", (False, True)),
            "normalize_features": trial.suggest_categorical("normalize_features", (False, True)),
        }

    def points(self, graph: str, variant: str = "") -> list[dict[str, Any]]:
        return [settings.model_dump(exclude={"seed"}) for settings in self.candidates()]


def solutions(
    low: list[np.ndarray], y: np.ndarray, settings: LinearSettings
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Weights of each hop [K + 1, f, C] and bias [C] for each of :data:`RIDGES`, largest first; ``low`` are the
    smoothed features of the training nodes [n, f], ``y`` their classes [n, C]."""
    parts = [*low, *(near - far for near, far in pairwise(low))] if settings.high_pass else low
    means, mean = np.array([part.mean(axis=0) for part in parts]), y.mean(axis=0)
    centred = [part - middle for part, middle in zip(parts, means, strict=True)]
    scales = np.array([1 / max(np.linalg.norm(part), _TINY) if settings.equal else 1.0 for part in centred])
    for w in _ridge(np.hstack([scale * part for scale, part in zip(scales, centred, strict=True)]), y - mean):
        found = scales[:, None, None] * w.reshape(*means.shape, -1)
        weights, high = found[: len(low)].copy(), found[len(low) :]
        if settings.high_pass:
            weights[:-1] += high
            weights[1:] -= high
        yield weights, mean - np.einsum("pf,pfc->c", means, found)


def _ridge(z: np.ndarray, y: np.ndarray) -> Iterator[np.ndarray]:
    """Ridge regression with each penalty, from one eigendecomposition of the smaller product."""
    is_wide = len(z) < z.shape[1]
    variances, directions = np.linalg.eigh(z @ z.T if is_wide else z.T @ z)
    target = directions.T @ (y if is_wide else z.T @ y)
    for ridge in RIDGES:
        penalty = max(ridge * variances.mean(), _TINY)
        w = directions @ (target / (variances.clip(min=0) + penalty)[:, None])
        yield z.T @ w if is_wide else w


MODEL = LinearModel()
