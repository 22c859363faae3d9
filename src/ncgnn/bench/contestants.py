"""A model on a graph, ready to train a step or to predict."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from ncgnn.baselines.run import class_scores
from ncgnn.bench.peers import PEERS, dense
from ncgnn.bench.plain import PlainNCGNN
from ncgnn.data.graph import num_classes
from ncgnn.errors import InputError
from ncgnn.models.base.features import prepare_features
from ncgnn.models.ncgnn.config import Config
from ncgnn.sparse import cheaper_operator
from ncgnn.train.loop import Training, step
from ncgnn.train.objectives import CrossEntropy
from ncgnn.train.reproducible import seeded
from ncgnn.train.run import training
from ncgnn.train.stopping import Patience

MODELS = ("NCGNN", "NCGNN, plain", *PEERS)
"""The fused kernels, the same in operations of PyTorch, and the models of PyTorch Geometric."""


@dataclass(frozen=True)
class Contestant:
    """``step`` is forward, loss, backward and optimiser; ``predict`` the scores of all nodes without a gradient."""

    step: Callable[[], object]
    predict: Callable[[], Tensor]


def enter(model: str, data: Data, config: Config) -> Contestant:
    """The named model on a graph with a split; ``config`` holds the settings of NCGNN."""
    if model not in MODELS:
        raise InputError(f"unknown model {model!r}; known: {', '.join(MODELS)}")
    with seeded(config.seed):
        return _peer(model, data) if model in PEERS else _ncgnn(data, config, plain=model != "NCGNN")


def _ncgnn(data: Data, config: Config, plain: bool) -> Contestant:
    x = prepare_features(data.x, config.normalize_features)
    model = config.make_model(x.shape[1], num_classes(data))
    prepared = model.filter.prepare(data.edge_index, data.num_nodes, data.get("edge_weight"), x.dtype)
    how = training(model, config)
    if plain:
        return _contestant(PlainNCGNN(model), (x, prepared), data, how)
    return _contestant(model, (cheaper_operator(x), prepared), data, how)


def _peer(name: str, data: Data) -> Contestant:
    x = dense(data.x)
    model = PEERS[name](x.shape[1], num_classes(data))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    return _contestant(model, (x, data.edge_index), data, Training(CrossEntropy(), optimizer, Patience(1), epochs=1))


def _contestant(model: nn.Module, inputs: tuple[Any, ...], data: Data, how: Training) -> Contestant:
    return Contestant(
        step=lambda: step(model, lambda: model(*inputs), data, how),
        predict=lambda: class_scores(model, inputs),
    )
