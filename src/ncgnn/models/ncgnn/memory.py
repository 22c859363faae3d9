"""Memory that NCGNN takes, from the sizes of capsules and votes."""

from dataclasses import dataclass
from itertools import pairwise

from ncgnn.models.base.memory import VALUE
from ncgnn.models.base.model import Sizes
from ncgnn.models.ncgnn.config import Config
from ncgnn.nn.model import MOST_BYTES

_BLOCK = 1 << 24  # numbers of a few blocks
_ENTRY = 24  # bytes: a value and a column index, in the matrix and its transpose


def capsule_bytes(sizes: Sizes, edges: int, config: Config, copies: int) -> float:
    """Estimated peak memory; in training, which keeps ``COPIES`` of the weights, within 20 % of the measurements in
    docs/performance.md. ``edges`` are counted in both directions."""
    held = Numbers.of(sizes, config)
    in_blocks = held.is_in_blocks(sizes.nodes)
    a_node = held.of_a_node_in_blocks if in_blocks else held.of_a_node if copies > 1 else held.votes + held.capsules
    numbers = sizes.nodes * a_node + copies * held.weights + (_BLOCK if in_blocks else 0)
    entries = edges if config.top_k is None else sizes.nodes * min(config.top_k, sizes.nodes)
    return float(VALUE * numbers + _ENTRY * entries)


def is_large(sizes: Sizes, config: Config) -> bool:
    """Whether votes are computed in blocks."""
    return Numbers.of(sizes, config).is_in_blocks(sizes.nodes)


@dataclass(frozen=True)
class Numbers:
    """How many numbers are held: of a node, its capsules, votes, couplings and class capsules; of all, weights."""

    iterations: int
    capsules: int
    votes: int
    couplings: int
    classes: int
    weights: int
    may_split: bool

    @classmethod
    def of(cls, sizes: Sizes, config: Config) -> "Numbers":
        groups = [(config.reads, config.num_capsules), *((group.reads, group.num_capsules) for group in config.groups)]
        read = [(reads, count) for reads, count in groups if reads != "beliefs"]
        own = sum(count for _, count in read)
        layers = [(own, config.primary_channels), *config.hidden, (sizes.classes, config.class_channels)]
        votes = [before[0] * after[0] * after[1] for before, after in pairwise(layers)]
        widths = {"features": sizes.features, "links": sizes.nodes}
        weights = sum(widths[reads] * count * config.primary_channels for reads, count in read)
        weights += sum(before[1] * size for before, size in zip(layers, votes, strict=False))
        couplings = sum(before[0] * after[0] for before, after in pairwise(layers))
        outputs = sum(count * size for count, size in layers[1:])
        capsules = own * config.primary_channels
        return cls(config.iterations, capsules, sum(votes), couplings, outputs, weights, not config.hidden)

    def is_in_blocks(self, nodes: int) -> bool:
        return self.may_split and VALUE * nodes * self.votes > MOST_BYTES

    @property
    def of_a_node(self) -> int:
        """Votes and capsules with their gradients; of each iteration couplings, messages and outputs with theirs; and
        what arrives through the filter, hop by hop."""
        of_iterations = self.iterations * (2 * self.couplings + 3 * self.classes)
        return 2 * (self.votes + self.capsules) + of_iterations + 8 * self.classes

    @property
    def of_a_node_in_blocks(self) -> int:
        """Without votes and capsules, with messages that their gradients replace."""
        return (2 * self.iterations + 4) * self.classes + (2 * self.iterations - 1) * self.couplings
