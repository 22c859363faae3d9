"""How good a ranking of nodes is: what the model still says when only its first ones are heard, or all but them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.explain import characterization_score

from ncgnn.explain.contributions import row
from ncgnn.explain.quality.presence import Subject
from ncgnn.nn import proportions

SPARSITIES = (0.5, 0.8, 0.9, 0.95, 0.98, 0.99)
"""Shares of the nodes that are heard which an explanation leaves out."""

CHARACTERISATION = "characterisation"


@dataclass(frozen=True)
class Measured:
    """A mean over nodes; ``sparsity`` is none where the measure is one over all of them."""

    measure: str
    sparsity: float | None
    value: float


@dataclass(frozen=True, eq=False)
class Removal:
    """What becomes of predictions, each [nodes, sparsities]: whether the class changes, and how much of its probability
    is lost, with only the explanation heard (``kept``) and with all but it (``without``); and the probability [nodes]
    with everyone and with nobody heard."""

    kept_changes: Tensor
    kept_loss: Tensor
    without_changes: Tensor
    without_loss: Tensor
    everyone: Tensor
    nobody: Tensor


def field(subject: Subject, node: int) -> Tensor:
    """The nodes that one hears."""
    return row(subject.trace.a_bar, node).nonzero().flatten()


def ranked(subject: Subject, node: int, importance: Tensor) -> Tensor:
    """The nodes that one hears, the most important first."""
    heard = field(subject, node)
    return heard[importance.detach()[heard].argsort(descending=True, stable=True)]


@torch.no_grad()
def remove(subject: Subject, nodes: Sequence[int], orders: Sequence[Tensor]) -> Removal:
    """Ask the model again for each node, sparsity and side."""
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
    """How many nodes an explanation has: at least one."""
    return max(1, round((1 - sparsity) * heard))


def _ask(subject: Subject, node: int, presence: Tensor) -> tuple[float, float]:
    """Whether the class is another, and the probability of the one that was predicted."""
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
    """Under the curve of the probability, over the share of nodes that were put in or taken out."""
    shares = torch.tensor([0.0, *(1 - sparsity for sparsity in reversed(SPARSITIES)), 1.0])
    curve = torch.cat([first[:, None], (removal.everyone[:, None] - loss).flip(1), last[:, None]], dim=1)
    return torch.trapezoid(curve, shares).mean().item()
