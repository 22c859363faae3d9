"""One run of a control model: train on one split, stop by validation."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from ncgnn.baselines.settings import Settings
from ncgnn.data import complete, standardise
from ncgnn.models.base.features import prepare_features
from ncgnn.models.base.layers import LayerStack
from ncgnn.sparse import CSR, LinearOperator, cheaper_operator, normalized_adjacency
from ncgnn.train.epoch import Epoch
from ncgnn.train.loop import Training, train
from ncgnn.train.objectives import CrossEntropy
from ncgnn.train.reproducible import seeded


@dataclass
class Fit:
    """A trained model, the epoch whose weights it has, how it got there, and its class scores [N, C]."""

    model: LayerStack
    best: Epoch
    history: list[Epoch] = field(repr=False)
    scores: Tensor = field(repr=False)


def fit(data: Data, settings: Settings, on_epoch: Callable[[Epoch], None] = lambda epoch: None) -> Fit:
    """Train on ``data.train_mask``; the rule that stops and chooses the weights looks at ``data.val_mask`` alone.

    The outcome is a function of the arguments: the random state of the caller is neither used nor changed.
    """
    data = standardise(complete(data))
    known = _known_nodes(data) if settings.model == "mlp" else data
    inputs = _inputs(known, settings)
    sizes = settings.layers, settings.width
    with seeded(settings.seed):
        model = LayerStack(inputs[0].shape[1], len(data.class_names), *sizes, settings.dropout)
        trained = train(model, inputs, known, training(model, settings), on_epoch)
    scores = class_scores(model, inputs if known is data else _inputs(data, settings))
    return Fit(model, trained.best, trained.history, scores)


@torch.no_grad()
def class_scores(model: nn.Module, inputs: Sequence[Any]) -> Tensor:
    """Of all nodes [N, C]."""
    out: Tensor = model.eval()(*inputs)
    return out


def _known_nodes(data: Data) -> Data:
    """The nodes an MLP learns and stops by: each stands alone, so the others would only cost time."""
    nodes = (data.train_mask | data.val_mask).nonzero().squeeze(1)
    is_dense = data.x.layout == torch.strided
    x = data.x[nodes] if is_dense else data.x.to_sparse_coo().index_select(0, nodes).to_sparse_csr()
    return Data(x=x, y=data.y[nodes], train_mask=data.train_mask[nodes], val_mask=data.val_mask[nodes])


def _inputs(data: Data, settings: Settings) -> tuple[LinearOperator, LinearOperator | None]:
    x = prepare_features(data.x, settings.normalize_features)
    if settings.model == "mlp":
        return cheaper_operator(x), None
    a = normalized_adjacency(data.edge_index, data.num_nodes, data.get("edge_weight"))
    return cheaper_operator(x), CSR.from_scipy(a, x.dtype)


def training(model: LayerStack, settings: Settings) -> Training:
    """Cross-entropy, plain Adam, and the stopping rule of the settings."""
    first, *others = model.weights
    rest = settings.weight_decay if settings.decay == "all" else 0.0
    groups = [
        {"params": [first], "weight_decay": settings.weight_decay},
        {"params": others, "weight_decay": rest},
    ]
    optimizer = torch.optim.Adam([group for group in groups if group["params"]], lr=settings.lr)
    return Training(CrossEntropy(), optimizer, settings.stopping, settings.epochs)
