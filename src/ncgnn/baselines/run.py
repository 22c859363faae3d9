"""One run of a control model: train on one split, stop by validation."""

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch_geometric.data import Data

from ncgnn.baselines.loop import class_scores, train
from ncgnn.baselines.settings import Settings
from ncgnn.baselines.stack import LayerStack
from ncgnn.data import complete, standardise
from ncgnn.sparse import CSR, LinearOperator, cheaper_operator, normalized_adjacency, pool
from ncgnn.train.run import Epoch, prepare_features


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
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(settings.seed)
            model = LayerStack(inputs[0].shape[1], len(data.class_names), *sizes, settings.dropout)
            best, history = train(model, inputs, known, _optimizer(model, settings), settings, on_epoch)
        scores = class_scores(model, inputs if known is data else _inputs(data, settings))
    finally:
        pool.clear()
    return Fit(model, best, history, scores)


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


def _optimizer(model: LayerStack, settings: Settings) -> torch.optim.Optimizer:
    first, *others = model.weights
    rest = settings.weight_decay if settings.decay == "all" else 0.0
    groups = [
        {"params": [first], "weight_decay": settings.weight_decay},
        {"params": others, "weight_decay": rest},
    ]
    return torch.optim.Adam([group for group in groups if group["params"]], lr=settings.lr)
