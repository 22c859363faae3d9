"""One run of a control model: train on one split, stop by validation."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from statistics import fmean

import torch
import torch.nn.functional as F
from torch import Tensor
from torch_geometric.data import Data

from ncgnn.baselines.settings import Settings
from ncgnn.baselines.stack import LayerStack
from ncgnn.data import complete, standardise
from ncgnn.sparse import CSR, LinearOperator, cheaper_operator, normalized_adjacency, pool
from ncgnn.train.run import Epoch, accuracy, check_finite, prepare_features


@dataclass
class Fit:
    """A trained model, the epoch whose weights it has, how it got there, and its class scores [N, C]."""

    model: LayerStack
    best: Epoch
    history: list[Epoch] = field(repr=False)
    scores: Tensor = field(repr=False)


@dataclass(frozen=True)
class _Graph:
    """What a model is trained on."""

    data: Data
    x: LinearOperator
    a: LinearOperator | None


def fit(data: Data, settings: Settings, on_epoch: Callable[[Epoch], None] = lambda epoch: None) -> Fit:
    """Train on ``data.train_mask``; the rule that stops and chooses the weights looks at ``data.val_mask`` alone.

    The outcome is a function of the arguments: the random state of the caller is neither used nor changed.
    """
    graph = _prepare(standardise(complete(data)), settings)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)
        classes = len(graph.data.class_names)
        model = LayerStack(graph.x.shape[1], classes, settings.layers, settings.width, settings.dropout)
        best, history = _train(model, graph, settings, on_epoch)
    scores = _scores(model, graph)
    pool.clear()
    return Fit(model, best, history, scores)


def _prepare(data: Data, settings: Settings) -> _Graph:
    x = prepare_features(data.x, settings.normalize_features)
    if settings.model == "mlp":
        return _Graph(data, cheaper_operator(x), None)
    a = normalized_adjacency(data.edge_index, data.num_nodes, data.get("edge_weight"))
    return _Graph(data, cheaper_operator(x), CSR.from_scipy(a, x.dtype))


def _train(
    model: LayerStack, graph: _Graph, settings: Settings, on_epoch: Callable[[Epoch], None]
) -> tuple[Epoch, list[Epoch]]:
    optimizer = _optimizer(model, settings)
    history: list[Epoch] = []
    best, best_state = None, model.state_dict()
    for number in range(1, settings.epochs + 1):
        epoch = Epoch(number, _step(model, optimizer, graph), *_validate(model, graph))
        check_finite(epoch, "lower lr")
        history.append(epoch)
        on_epoch(epoch)
        if best is None or settings.stop == "window" or _rank(epoch) > _rank(best):
            best, best_state = epoch, deepcopy(model.state_dict())
        if is_over(history, best, settings):
            break
    assert best is not None  # there is at least one epoch
    model.load_state_dict(best_state)
    return best, history


def is_over(history: list[Epoch], best: Epoch, settings: Settings) -> bool:
    """Whether the stopping rule ends the run after the last epoch of ``history``."""
    last = history[-1]
    if settings.stop == "patience":
        return last.epoch - best.epoch >= settings.patience
    before = history[-settings.patience - 1 : -1]
    return len(before) == settings.patience and last.val_loss > fmean(epoch.val_loss for epoch in before)


def _rank(epoch: Epoch) -> tuple[float, float]:
    return epoch.val_accuracy, -epoch.val_loss


def _optimizer(model: LayerStack, settings: Settings) -> torch.optim.Optimizer:
    first, *others = model.weights
    rest = settings.weight_decay if settings.decay == "all" else 0.0
    groups = [
        {"params": [first], "weight_decay": settings.weight_decay},
        {"params": others, "weight_decay": rest},
    ]
    return torch.optim.Adam([group for group in groups if group["params"]], lr=settings.lr)


def _step(model: LayerStack, optimizer: torch.optim.Optimizer, graph: _Graph) -> float:
    model.train()
    optimizer.zero_grad()
    loss = _loss(model(graph.x, graph.a), graph.data.y, graph.data.train_mask)
    loss.backward()
    optimizer.step()
    return loss.item()


def _validate(model: LayerStack, graph: _Graph) -> tuple[float, float]:
    scores, y, mask = _scores(model, graph), graph.data.y, graph.data.val_mask
    return _loss(scores, y, mask).item(), accuracy(scores, y, mask)


@torch.no_grad()
def _scores(model: LayerStack, graph: _Graph) -> Tensor:
    model.eval()
    out: Tensor = model(graph.x, graph.a)
    return out


def _loss(scores: Tensor, y: Tensor, mask: Tensor) -> Tensor:
    return F.cross_entropy(scores[mask], y[mask])
