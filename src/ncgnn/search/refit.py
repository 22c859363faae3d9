"""The last training, on all labels, and calibration without giving labels up for it."""

from copy import copy
from dataclasses import replace
from inspect import signature

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from ncgnn.calibration import Calibration
from ncgnn.data.splits import FEWEST_ASIDE, nodes_to_test
from ncgnn.models import AnyModel, Fitted, PreparedGraph, RunSettings
from ncgnn.train.loop import Training
from ncgnn.train.soft_targets import soft_targets, taught
from ncgnn.train.stopping import Never

FOLDS = 4


def can_refit(model: AnyModel, settings: RunSettings) -> bool:
    """Whether the model is trained once and in epochs, whose number can be kept; a ``fit`` of one's own must take
    ``change``."""
    is_once = "epochs" in type(settings).model_fields and not getattr(settings, "self_taught", False)
    return is_once and "change" in signature(model.fit).parameters


def refit(
    graph: PreparedGraph, model: AnyModel, settings: RunSettings, epochs: int, targets: Tensor | None = None
) -> tuple[PreparedGraph, Fitted]:
    """Train on all labelled nodes for as many epochs as were best before, and the graph with these as training nodes.

    Args:
        graph: with the split that was searched on.
        model: what to train.
        settings: chosen on validation nodes.
        epochs: number of epochs.
        targets: soft targets [N, C], if the model learned from any.
    """
    data, known = copy(graph.data), graph.data.y >= 0
    data.train_mask, data.val_mask, data.test_mask = known, torch.zeros_like(known), torch.zeros_like(known)
    data.pop("calibration_mask", None)
    return graph.with_split(data), _fit(graph.with_split(data), model, settings, epochs, targets)


def cross_calibration(
    graph: PreparedGraph, model: AnyModel, settings: RunSettings, epochs: int, is_taught: bool
) -> Calibration | None:
    """Calibration on all training and validation nodes, each scored by a model that was trained without it; None if
    there are too few. Test nodes are left out, so that they can judge it.

    A model that learned from others learns from one other here, trained on the same nodes.
    """
    data = graph.data
    folds = _folds(data)
    if sum(map(len, folds)) < FEWEST_ASIDE:
        return None
    shares, labels = [], []
    for fold in folds:
        part = graph.with_split(_without(data, fold))
        found = _shares(part, model, _fit(part, model, settings, epochs, None), settings)
        if is_taught:
            targets = soft_targets([found], part.data)
            found = _shares(part, model, _fit(part, model, settings, epochs, targets), settings)
        shares.append(found[fold].numpy())
        labels.append(data.y[fold].numpy())
    return Calibration.fit(np.concatenate(shares), np.concatenate(labels))


def _fit(graph: PreparedGraph, model: AnyModel, settings: RunSettings, epochs: int, targets: Tensor | None) -> Fitted:
    def change(how: Training) -> Training:
        return replace(taught(how, targets), stopping=Never(), epochs=epochs)

    data = graph.data
    if not data.val_mask.any():  # the history then describes the training nodes
        data = copy(data)
        data.val_mask = data.train_mask
    return model.fit(model.prepare(graph, settings), data, settings, change=change)


def _shares(graph: PreparedGraph, model: AnyModel, fitted: Fitted, settings: RunSettings) -> Tensor:
    return model.probabilities(model.scores(fitted.module, model.prepare(graph, settings))[0])


def _folds(data: Data) -> list[Tensor]:
    """Training and validation nodes, each class dealt out to the folds in turn."""
    known = (data.train_mask | data.val_mask) & ~nodes_to_test(data)
    order = np.random.default_rng(0).permutation(known.nonzero().flatten().numpy())
    order = order[np.argsort(data.y.numpy()[order], kind="stable")]
    return [torch.from_numpy(order[start::FOLDS]) for start in range(FOLDS)]


def _without(data: Data, fold: Tensor) -> Data:
    """The split with a fold as validation nodes, and all others of the training and validation nodes to train on."""
    out, inside = copy(data), torch.zeros_like(data.train_mask)
    inside[fold] = True
    out.train_mask, out.val_mask = (data.train_mask | data.val_mask) & ~inside, inside
    return out
