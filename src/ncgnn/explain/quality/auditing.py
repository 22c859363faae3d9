"""An audit: how far the reasons of one model can be trusted, measured on a sample of its own predictions.

Contributions hold couplings, gates and norms fixed. A model may hide what it uses there, and its contributions then
name other things. So what they foresee is compared with what full forward passes say, for what they name and for what
they do not.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import mean

import torch
from scipy.stats import spearmanr
from torch import Tensor

from ncgnn.explain.contributions import by_node
from ncgnn.explain.removal import Removal, What, candidates
from ncgnn.explain.targets import make_targets
from ncgnn.nn import proportions

NAMED, UNNAMED = 5, 5
"""Things of a node that are removed one by one: those with the largest contributions, and others at random."""
KEPT = 10
"""Nodes that an explanation keeps when it is explained again."""
RESAMPLED = 2000
"""Samples of nodes for the interval of an agreement."""
DRAWS, RATE = 5, 0.5
"""Random removals for robust fidelity, and the share of nodes removed in each."""
RIGHT, FAIR = 0.8, 0.5
"""Agreements from which reasons can be trusted, or trusted in part. Rank correlation is reported beside: among many
effects that are next to nothing, it is chance."""
SLOPES = 0.5, 1.5
"""Slopes of true on predicted changes within which their size is right as well."""
ENDS = "lower", "upper"
HIDDEN = 0.25
"""Share of nodes from which on unnamed things matter too often: as many as named ones are tried, so chance is 1/2."""


@dataclass(frozen=True)
class Foresight:
    """Predicted and true changes of the lead when one thing is removed.

    Attributes:
        correlation: rank correlation over all removals; ``None`` if all predicted or all true changes are equal, which
            leaves no order.
        agreement: cosine of the predicted and the true changes, in which large effects count most: 1 if they are equal
            up to one factor.
        slope: of the true changes on the predicted ones, through the origin.
        hidden: share of nodes at which an unnamed thing has the largest effect, more than twice as large as foreseen.
        removals: how many there were.
        interval: of the agreement, 95 % of a bootstrap over nodes; ``None`` for a single node.
    """

    correlation: float | None
    agreement: float
    slope: float
    hidden: float
    removals: int
    interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class Audit:
    """How far a model's reasons can be trusted.

    Attributes:
        nodes: how many predictions were audited.
        neighbours: foresight for other nodes; ``None`` where no node hears any.
        features: foresight for features of the node itself; ``None`` without features.
        consistency: rank correlation of the contributions of the ten most important nodes with those when no other
            node is heard; ``None`` where no node hears three, or where all contributions are equal.
        robust_plus: mean drop in probability when the named nodes are each removed with probability 1/2; higher is
            better.
        robust_minus: the same for all other nodes; lower is better.
        seeds: overlap of the top nodes with those of the model trained with another seed, if there is one.
    """

    nodes: int
    neighbours: Foresight | None
    features: Foresight | None
    consistency: float | None
    robust_plus: float
    robust_minus: float
    seeds: float | None = None

    @property
    def worst(self) -> tuple[str, Foresight] | None:
        """The kind of reasons that says least about true effects."""
        kinds = {"neighbours": self.neighbours, "features": self.features}
        known = [(kind, one) for kind, one in kinds.items() if one is not None]
        return min(known, key=lambda item: item[1].agreement, default=None)

    @property
    def is_trusted(self) -> bool:
        """Whether reasons foresee true effects, and nothing unnamed has large ones."""
        found = [one for one in (self.neighbours, self.features) if one is not None]
        return bool(found) and all(one.agreement >= RIGHT and one.hidden <= HIDDEN for one in found)

    @property
    def verdict(self) -> str:
        """How far the reasons can be trusted, in words."""
        if self.worst is None:
            return "There is nothing to audit: predictions depend on no node and no feature."
        kind, worst = self.worst
        hiding = [k for k in ("neighbours", "features") if (one := getattr(self, k)) and one.hidden > HIDDEN]
        if hiding or worst.agreement < FAIR:
            which = hiding[0] if hiding else kind
            return f"Do not trust these reasons: removing {which} has effects that they do not foresee."
        if worst.agreement < RIGHT:
            return f"Trust these reasons in part: for {kind}, they often do not foresee the effect of a removal."
        slopes = [one.slope for one in (self.neighbours, self.features) if one is not None]
        if not all(SLOPES[0] <= slope <= SLOPES[1] for slope in slopes):
            return "Trust which reasons are named and their order; their sizes are off."
        return "These reasons can be trusted: they foresee what removing neighbours and features does."

    @property
    def short(self) -> str:
        """The verdict with its main numbers, in one line."""
        kinds = {"neighbours": self.neighbours, "features": self.features}
        found = [f"{one.agreement:.2f} for {kind}" for kind, one in kinds.items() if one is not None]
        counted = f"{self.nodes} node{'s' * (self.nodes != 1)}"
        if not found:
            return self.verdict
        return f"{self.verdict} Agreement of predicted and true effects, at most 1: {', '.join(found)} ({counted})."

    def rows(self) -> Iterator[tuple[str, float | None]]:
        """All measures by name; ``None`` for a rank correlation that is not defined."""
        for kind in ("neighbours", "features"):
            one = getattr(self, kind)
            if one is not None:
                yield f"rank correlation, {kind}", one.correlation
                yield f"agreement, {kind}", one.agreement
                if one.interval is not None:
                    yield from zip((f"agreement, {kind}, {end} bound" for end in ENDS), one.interval, strict=True)
                yield f"slope, {kind}", one.slope
                yield f"hidden, {kind}", one.hidden
        if self.consistency is not None:
            yield "self-consistency", self.consistency
        yield "robust fidelity+", self.robust_plus
        yield "robust fidelity-", self.robust_minus
        if self.seeds is not None:
            yield "agreement between seeds", self.seeds


@torch.no_grad()
def audit(removal: Removal, nodes: Sequence[int], other: Removal | None = None) -> Audit:
    """Audit the reasons of some predictions; ``other`` is the same model trained with another seed."""
    draw = torch.Generator().manual_seed(0)
    pairs: dict[What, list[Tensor]] = {"neighbours": [], "features": []}
    for node in nodes:
        for what, found in pairs.items():
            found.append(changes(removal, node, what, draw))
    kept = [one for node in nodes if (one := _consistency(removal, node)) is not None]
    robust = torch.tensor([_robust(removal, node, draw) for node in nodes])
    return Audit(
        nodes=len(nodes),
        neighbours=foresight(pairs["neighbours"]),
        features=foresight(pairs["features"]),
        consistency=mean(kept) if kept else None,
        robust_plus=float(robust[:, 0].mean()),
        robust_minus=float(robust[:, 1].mean()),
        seeds=None if other is None else _agreement(removal, other, nodes),
    )


def changes(removal: Removal, node: int, what: What, draw: torch.Generator) -> Tensor:
    """Predicted change, true change, and whether it was named, of some removals [n, 3]."""
    found = candidates(removal, node, what)
    first, second = removal.trace.scores[node].topk(2).indices.tolist()
    directions = make_targets(removal.trace, torch.tensor([node]), *(torch.tensor([c]) for c in (first, second)))
    foreseen = (found.parts[:, [first, second]] * directions.direction[0]).sum(dim=(1, 2))
    order = foreseen.abs().argsort(descending=True)
    rest = order[NAMED:]
    chosen = torch.cat([order[:NAMED], rest[torch.randperm(len(rest), generator=draw)[:UNNAMED]]])
    lengths = removal.trace.lengths[node]
    before = lengths[first] - lengths[second]
    rows = []
    for rank, place in enumerate(chosen.tolist()):
        after = removal.scores_without(node, {what: [found.items[place]]})[1]
        rows.append([float(foreseen[place]), float(before - (after[first] - after[second])), float(rank < NAMED)])
    return torch.tensor(rows, dtype=torch.float64).view(-1, 3)


def foresight(found: Sequence[Tensor]) -> Foresight | None:
    """Compare all changes; ``None`` if there are none."""
    rows = torch.cat(list(found))
    if len(rows) < 3 or not rows[:, 0].any():
        return None
    foreseen, true, _ = rows.t()
    slope = float((foreseen * true).sum() / (foreseen**2).sum())
    agreement = float((foreseen * true).sum() / (foreseen.norm() * true.norm()).clamp(min=1e-12))
    hidden = mean(_is_hidden(one) for one in found if len(one))
    interval = _interval([one for one in found if len(one)])
    return Foresight(_rank_correlation(foreseen, true), agreement, slope, hidden, len(rows), interval)


def _interval(found: Sequence[Tensor]) -> tuple[float, float] | None:
    """Of the agreement, had other nodes been drawn."""
    if len(found) < 2:
        return None
    sums = torch.stack([torch.stack([f @ t, f @ f, t @ t]) for f, t, _ in (one.t() for one in found)])
    draw = torch.Generator().manual_seed(0)
    drawn = sums[torch.randint(len(sums), (RESAMPLED, len(sums)), generator=draw)].sum(dim=1)
    values = drawn[:, 0] / (drawn[:, 1] * drawn[:, 2]).sqrt().clamp(min=1e-12)
    low, high = values.quantile(values.new_tensor([0.025, 0.975])).tolist()
    return low, high


def _rank_correlation(first: Tensor, second: Tensor) -> float | None:
    """``None`` where it is not defined: equal values have no order."""
    if any((values == values[0]).all() for values in (first, second)):
        return None
    return float(spearmanr(first, second).statistic)


def _is_hidden(rows: Tensor) -> bool:
    """Whether the largest true effect is that of an unnamed thing."""
    foreseen, true, named = rows.t()
    largest = true.abs().argmax()
    return bool(named[largest] == 0 and true[largest].abs() > 2 * foreseen[largest].abs())


def _lead(removal: Removal, node: int) -> Tensor:
    """The contribution of each node to the lead over the runner-up [N]."""
    first, second = removal.trace.scores[node].topk(2).indices[:, None]
    return by_node(removal.trace, make_targets(removal.trace, torch.tensor([node]), first, second))[0]


def _consistency(removal: Removal, node: int) -> float | None:
    """Whether an explanation of the explanation's nodes says the same of them."""
    before = _lead(removal, node)
    kept = before.abs().topk(min(KEPT, len(before))).indices
    kept = kept[before[kept] != 0]
    if len(kept) < 3:
        return None
    presence = torch.zeros_like(removal.subject.everyone).index_fill(0, kept, 1.0)
    after = _lead(removal.reduced(presence), node)
    return _rank_correlation(before[kept], after[kept])


def _robust(removal: Removal, node: int, draw: torch.Generator) -> tuple[float, float]:
    """Mean drop in the probability of the class when named nodes, or others, are removed at random."""
    subject = removal.subject
    parts = _lead(removal, node)
    named = torch.zeros_like(parts).index_fill(0, parts.abs().topk(min(NAMED, len(parts))).indices, 1.0).bool()
    predicted = int(subject.predicted[node])
    before = subject.probabilities[node, predicted]
    drops = []
    for among in (named, ~named):
        gone = ((torch.rand(DRAWS, len(parts), generator=draw) < RATE) & among).to(subject.everyone)
        after = [proportions(subject.scores(1 - one)[node])[predicted] for one in gone]
        drops.append(float(before - torch.stack(after).mean()))
    return drops[0], drops[1]


def _agreement(removal: Removal, other: Removal, nodes: Sequence[int]) -> float | None:
    """Overlap of the top nodes of two models, where both predict the same."""
    same = [node for node in nodes if removal.subject.predicted[node] == other.subject.predicted[node]]
    found = []
    for node in same:
        first, second = (_lead(model, node) for model in (removal, other))
        most = min(KEPT, int((first != 0).sum()), int((second != 0).sum()))
        tops = [set(one.abs().topk(most).indices.tolist()) for one in (first, second)]
        found += [len(tops[0] & tops[1]) / most] if most else []
    return mean(found) if found else None


def affordable(num_nodes: int, most: int = 30) -> int:
    """How many nodes can be audited in passing: in all, a few million nodes pass through the model."""
    return max(3, min(most, 2_000_000 // (num_nodes * (2 * (NAMED + UNNAMED + DRAWS) + 1))))
