"""Memory that NCGNN takes, from the sizes of capsules and votes."""

from itertools import pairwise

from ncgnn.models.base.memory import VALUE
from ncgnn.models.base.model import Sizes
from ncgnn.models.ncgnn.config import Config

_ENTRY = 24  # bytes: a value and a column index, in the matrix and its transpose


def capsule_bytes(sizes: Sizes, edges: int, config: Config, copies: int) -> float:
    """Estimated peak memory, within 20 % of the measurements in docs/performance.md for training, which keeps
    ``COPIES`` of most; ``edges`` are counted in both directions."""
    counted = [config.num_capsules, *(sizes.classes if g.reads == "beliefs" else g.num_capsules for g in config.groups)]
    layers = [(sum(counted), config.primary_channels), *config.hidden, (sizes.classes, config.class_channels)]
    votes = [before[0] * after[0] * after[1] for before, after in pairwise(layers)]
    a_node = layers[0][0] * config.primary_channels + sum(votes)
    inputs = [(config.reads, config.num_capsules), *((group.reads, group.num_capsules) for group in config.groups)]
    widths = {"features": sizes.features, "links": sizes.nodes, "beliefs": 0}
    weights = sum(widths[reads] * count * config.primary_channels for reads, count in inputs)
    weights += sum(before[1] * size for before, size in zip(layers, votes, strict=False))
    entries = edges if config.top_k is None else sizes.nodes * min(config.top_k, sizes.nodes)
    return float(VALUE * copies * (sizes.nodes * a_node + weights) + _ENTRY * entries)
