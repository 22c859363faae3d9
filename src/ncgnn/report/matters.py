"""What the predictions of a model are made of, taken together."""

from dataclasses import dataclass

from ncgnn.data.splits import judged_nodes
from ncgnn.explain import is_explained, trace_scored
from ncgnn.explain.overall import feature_shares, hop_shares
from ncgnn.nn import NCGNN
from ncgnn.scored import Scored

TOP = 5
_MOST_VALUES = 1 << 28  # of primary capsules: a gigabyte, which the parts of features take several times


@dataclass(frozen=True)
class Matters:
    """Shares of the scores of the predicted classes of the judged nodes.

    Attributes:
        hops: of each hop; ``None`` where the filter is no sum over hops.
        features: of the features that speak most for each class that is predicted, the most first.
    """

    hops: dict[str, float] | None
    features: dict[str, list[tuple[str, float]]]


def matters(scored: Scored) -> Matters | None:
    """``None`` for models that are not explained and for very large graphs."""
    model, data = scored.module, scored.data
    if not is_explained(scored) or not isinstance(model, NCGNN):
        return None
    if len(scored.scores) * model.primary.bias.numel() > _MOST_VALUES:
        return None
    trace, nodes = trace_scored(scored), judged_nodes(data)
    shares = feature_shares(trace, nodes)
    best = shares.topk(min(TOP, shares.shape[1]), dim=1)
    names, found = data.feature_names, {}
    for name, places, values in zip(data.class_names, best.indices.tolist(), best.values.tolist(), strict=True):
        found[name] = [(names[i], value) for i, value in zip(places, values, strict=True) if value > 0]
    return Matters(hop_shares(trace, nodes), {name: parts for name, parts in found.items() if parts})
