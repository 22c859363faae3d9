"""A model on a graph, ready to train a step or to predict."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor
from torch_geometric.data import Data

from ncgnn.bench.peers import PEERS, dense
from ncgnn.bench.plain import PlainNCGNN
from ncgnn.data.graph import num_classes
from ncgnn.errors import InputError
from ncgnn.nn import PreparedFilter
from ncgnn.sparse import LinearOperator, cheaper_operator
from ncgnn.train import Config
from ncgnn.train.run import make_optimizer, prepare_features, train_step

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
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        return _peer(model, data) if model in PEERS else _ncgnn(data, config, plain=model != "NCGNN")


def _ncgnn(data: Data, config: Config, plain: bool) -> Contestant:
    features = prepare_features(data.x, config.normalize_features)
    model = config.make_model(features.shape[1], num_classes(data))
    prepared = model.filter.prepare(data.edge_index, data.num_nodes, data.get("edge_weight"), features.dtype)
    if plain:
        model.__class__ = PlainNCGNN
    x = features if plain else cheaper_operator(features)
    optimizer = make_optimizer(model, config)
    return Contestant(
        step=lambda: train_step(model, optimizer, data, x, prepared, config),
        predict=lambda: _scores(model, x, prepared),
    )


def _peer(name: str, data: Data) -> Contestant:
    x = dense(data.x)
    model = PEERS[name](x.shape[1], num_classes(data))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)

    def step() -> float:
        model.train()
        optimizer.zero_grad()
        out = model(x, data.edge_index)
        loss = F.cross_entropy(out[data.train_mask], data.y[data.train_mask])
        loss.backward()
        optimizer.step()
        return loss.item()

    return Contestant(step, lambda: _scores(model, x, data.edge_index))


@torch.no_grad()
def _scores(model: torch.nn.Module, x: Tensor | LinearOperator, edges: Tensor | PreparedFilter) -> Tensor:
    model.eval()
    scores: Tensor = model(x, edges)
    return scores
