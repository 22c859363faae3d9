"""What the predictions of a model are made of, taken together."""

from dataclasses import dataclass

from torch_geometric.data import Data

from ncgnn.classifier import NCGNNClassifier
from ncgnn.data.splits import judged_nodes
from ncgnn.explain import trace_model
from ncgnn.explain.overall import feature_shares, hop_shares

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


def matters(classifier: NCGNNClassifier, data: Data) -> Matters | None:
    """``None`` for models that are not explained, those with hidden capsule layers, and for very large graphs."""
    config = classifier.config_
    if config.hidden or int(data.num_nodes or 0) * config.num_capsules * config.primary_channels > _MOST_VALUES:
        return None
    trace = trace_model(classifier.model_, *classifier.prepare(data))
    nodes = judged_nodes(data)
    shares = feature_shares(trace, nodes)
    best = shares.topk(min(TOP, shares.shape[1]), dim=1)
    names, found = classifier.feature_names_in_, {}
    for name, places, values in zip(data.class_names, best.indices.tolist(), best.values.tolist(), strict=True):
        found[name] = [(names[i], value) for i, value in zip(places, values, strict=True) if value > 0]
    return Matters(hop_shares(trace, nodes), {name: parts for name, parts in found.items() if parts})
