"""Quality measures of a ranking of nodes: what the model predicts with only the top nodes, or without them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.explain import characterization_score

from ncgnn.explain.contributions import receptive_field
from ncgnn.explain.presence import Subject
from ncgnn.nn import proportions

SPARSITIES = (0.5, 0.8, 0.9, 0.95, 0.98, 0.99)
"""Sparsities: fractions of the receptive field that an explanation leaves out."""

CHARACTERISATION = "characterisation"


@dataclass(frozen=True)
class Measured:
    """A mean over nodes; ``sparsity`` is None if the measure covers all of them."""

    measure: str
    sparsity: float | None
    value: float


@dataclass(frozen=True, eq=False)
class Removal:
    """Effects on predictions, each [nodes, sparsities]: whether the class changes, and the drop in its probability,
    with only the explanation (``kept``) and without it (``without``); and the probability [nodes] with all nodes and
    with none."""

    kept_changes: Tensor
    kept_loss: Tensor
    without_changes: Tensor
    without_loss: Tensor
    everyone: Tensor
    nobody: Tensor


def field(subject: Subject, node: int) -> Tensor:
    """The receptive field of a node."""
    return receptive_field(subject.trace, node)


def ranked(subject: Subject, node: int, importance: Tensor) -> Tensor:
    """The receptive field of a node, most important nodes first."""
    heard = field(subject, node)
    return heard[importance.detach()[heard].argsort(descending=True, stable=True)]


@torch.no_grad()
def remove(subject: Subject, nodes: Sequence[int], orders: Sequence[Tensor]) -> Removal:
    """Rerun the model for each node, sparsity and side."""
    found = [_remove_one(subject, node, order) for node, order in zip(nodes, orders, strict=True)]
    return Removal(*(torch.stack(parts) for parts in zip(*found, strict=True)))


def _remove_one(subject: Subject, node: int, order: Tensor) -> tuple[Tensor, ...]:
    sides = []
    everyone = subject.everyone
    for sparsity in SPARSITIES:
        kept = torch.zeros_like(everyone).index_fill(0, order[: size(sparsity, len(order))], 1.0)
        sides.append([_ask(subject, node, kept), _ask(subject, node, everyone - kept)])
    (kept_changes, kept_p), (without_changes, without_p) = torch.tensor(sides).permute(1, 2, 0)
    before = subject.probabilities[node, subject.predicted[node]]
    nobody = torch.tensor(_ask(subject, node, 0 * everyone)[1])
    return kept_changes, before - kept_p, without_changes, before - without_p, before, nobody


def size(sparsity: float, heard: int) -> int:
    """Number of nodes in an explanation, at least one."""
    return max(1, round((1 - sparsity) * heard))


def _ask(subject: Subject, node: int, presence: Tensor) -> tuple[float, float]:
    """Whether the class changes, and the probability of the originally predicted class."""
    p, predicted = proportions(subject.scores(presence)[node]), int(subject.predicted[node])
    return float(p.argmax() != predicted), float(p[predicted])


def summary(removal: Removal) -> Iterator[Measured]:
    """Fidelity and characterisation, by class as PyG has them and by probability, at each sparsity and on average; the
    areas under the curves of insertion and deletion."""
    changes, losses = (removal.without_changes, removal.kept_changes), (removal.without_loss, removal.kept_loss)
    sides = {"": changes, ", probability": losses}
    for kind, (plus, minus) in sides.items():
        plus, minus = plus.mean(dim=0), minus.mean(dim=0)
        score = characterization_score(plus.clamp(min=0), minus.clamp(0, 1))
        for name, values in (("fidelity+", plus), ("fidelity-", minus), (CHARACTERISATION, score)):
            pairs = zip(SPARSITIES, values.tolist(), strict=True)
            yield from (Measured(f"{name}{kind}", sparsity, value) for sparsity, value in pairs)
            yield Measured(f"{name}{kind}", None, values.mean().item())
    yield Measured("insertion", None, _area(removal, removal.kept_loss, removal.nobody, removal.everyone))
    yield Measured("deletion", None, _area(removal, removal.without_loss, removal.everyone, removal.nobody))


def _area(removal: Removal, loss: Tensor, first: Tensor, last: Tensor) -> float:
    """Area under the probability curve, over the fraction of nodes inserted or deleted."""
    shares = torch.tensor([0.0, *(1 - sparsity for sparsity in reversed(SPARSITIES)), 1.0])
    curve = torch.cat([first[:, None], (removal.everyone[:, None] - loss).flip(1), last[:, None]], dim=1)
    return torch.trapezoid(curve, shares).mean().item()
