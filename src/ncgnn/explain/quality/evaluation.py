"""Compare explanation methods for one model on the same nodes, at equal sparsity."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import process_time

import torch
from torch import Tensor
from torch_geometric.data import Data

from ncgnn.explain.groups import FEATURES
from ncgnn.explain.presence import Subject
from ncgnn.explain.quality.compared import Ranking, rankings
from ncgnn.explain.quality.measures import Measured, ranked, remove, summary
from ncgnn.explain.quality.planted import FEATURE_RANKINGS, found, has_truth, planted_features, planted_nodes

FIRST = 10
"""Number of top nodes whose overlap is compared."""

REPEATED = 3
"""Number of nodes that are explained a second time."""


@dataclass(frozen=True)
class Measurement:
    """One measure of one method: a mean over ``nodes`` nodes."""

    method: str
    measure: str
    sparsity: float | None
    value: float
    nodes: int


def evaluate(
    subject: Subject, data: Data, nodes: Sequence[int], tell: Callable[[str], None] = lambda text: None
) -> Iterator[Measurement]:
    """All measures of all methods, one method after another."""
    for name, ranking in rankings(subject, nodes).items():
        tell(f"{name} on {len(nodes)} nodes")
        yield from _evaluate_one(subject, data, nodes, name, ranking)


def _evaluate_one(
    subject: Subject, data: Data, nodes: Sequence[int], name: str, ranking: Ranking
) -> Iterator[Measurement]:
    start = process_time()
    importances = explain(subject, nodes, ranking)
    seconds = (process_time() - start) / len(nodes)
    orders = [ranked(subject, node, one) for node, one in zip(nodes, importances, strict=True)]
    measured = [*summary(remove(subject, nodes, orders)), Measured("seconds a node", None, seconds)]
    yield from (Measurement(name, one.measure, one.sparsity, one.value, len(nodes)) for one in measured)
    stable = _stability(subject, nodes[:REPEATED], orders, ranking)
    yield Measurement(name, "stability over repeats", None, stable, len(nodes[:REPEATED]))
    if has_truth(data):
        yield from _against_truth(subject, data, nodes, importances, name)


def _stability(subject: Subject, nodes: Sequence[int], orders: Sequence[Tensor], ranking: Ranking) -> float:
    again = explain(subject, nodes, ranking, repeat=1)
    others = [ranked(subject, node, one) for node, one in zip(nodes, again, strict=True)]
    return sum(map(overlap, orders, others)) / len(nodes)


def explain(subject: Subject, nodes: Sequence[int], ranking: Ranking, repeat: int = 0) -> list[Tensor]:
    """The importance of nodes for each node; ``repeat`` changes the seed of random methods."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(repeat)
        return [ranking(subject, node).detach() for node in nodes]


def overlap(order: Tensor, other: Tensor) -> float:
    """Overlap of the top nodes of two explanations."""
    first = [set(nodes[:FIRST].tolist()) for nodes in (order, other)]
    return len(first[0] & first[1]) / max(len(first[0]), 1)


def _against_truth(
    subject: Subject, data: Data, nodes: Sequence[int], importances: Sequence[Tensor], name: str
) -> Iterator[Measurement]:
    """Measures on nodes that are predicted correctly and receive a planted signal; other classes have other signals."""
    right = [
        place
        for place, node in enumerate(nodes)
        if subject.predicted[node] == data.y[node] and planted_nodes(subject, data, node).any()
    ]
    if not right:
        return
    chosen = [nodes[place] for place in right]
    truths = [planted_nodes(subject, data, node) for node in chosen]
    measured = found("neighbours", [importances[place] for place in right], truths)
    if name in FEATURE_RANKINGS and subject.trace.groups[0].reads.what == FEATURES:
        truths = [planted_features(subject, data, node) for node in chosen]
        measured += found("features", explain(subject, chosen, FEATURE_RANKINGS[name]), truths)
    yield from (Measurement(name, one.measure, one.sparsity, one.value, len(chosen)) for one in measured)


def sample(data: Data, count: int) -> list[int]:
    """A fixed random sample of test nodes, or of all nodes if there are none."""
    mask = data.get("test_mask")
    one_split = mask is not None and mask.dim() == 1 and bool(mask.any())
    among = mask.nonzero().flatten() if one_split else torch.arange(data.num_nodes)
    order = torch.randperm(len(among), generator=torch.Generator().manual_seed(0))
    chosen: list[int] = among[order[:count]].tolist()
    return chosen
