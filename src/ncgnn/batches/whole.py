"""Exact routing of all nodes, one iteration after another over the whole graph: neither votes nor filter are ever held
as a whole, and no neighbour is computed twice."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from ncgnn.batches.filter_rows import FilterRows
from ncgnn.batches.scratch import scratch
from ncgnn.nn import NCGNN, CapsuleGraphLayer, squash
from ncgnn.sparse import LinearOperator
from ncgnn.train.processes import gathered, share, world

BLOCK = 4096
"""Nodes whose votes are in memory at a time."""

Read = Callable[[np.ndarray], LinearOperator]
"""The input of a group of capsules for some nodes."""

Votes = Callable[[np.ndarray], Tensor]
"""The votes of some nodes."""

Remember = Callable[[int, np.ndarray, Tensor], None]
"""Told the couplings of some nodes in an iteration after the first."""


@dataclass(frozen=True, eq=False)
class Routed:
    """The outcome of routing for some nodes; see :class:`~ncgnn.nn.Routing`."""

    nodes: np.ndarray
    capsules: Tensor
    couplings: Tensor
    u: Tensor


@dataclass(frozen=True, eq=False)
class Whole:
    """A graph that is read block by block: the inputs and filter rows of each group of capsules."""

    read: Sequence[Read]
    rows: Sequence[FilterRows]
    folder: Path

    def blocks(self) -> Iterator[tuple[np.ndarray, slice]]:
        """The nodes that this process computes next, and those that all processes do together."""
        nodes, size = self.rows[0].num_nodes, BLOCK * world()
        for start in range(0, nodes, size):
            stop = min(start + size, nodes)
            yield share(np.arange(start, stop)), slice(start, stop)


@torch.no_grad()
def sweep(module: NCGNN, whole: Whole, remember: Remember = lambda t, nodes, c: None) -> Iterator[Routed]:
    """Routing of all nodes, block by block; each of several processes gives its part of a block. The outcome is that of
    one full batch. Messages and agreements of all nodes are in files, 4 bytes for each of ``(2 C f_c + K C) N``
    numbers."""

    def filtered(nodes: np.ndarray, p: Tensor) -> Tensor:
        """``sum_g A_g p_g`` at some nodes."""
        pairs = zip(whole.rows, module.groups, p, strict=True)
        return sum((one.operator(group.filter, nodes) @ said for one, group, said in pairs), torch.zeros(()))

    layers = module.capsule_layers
    sizes = [group.num_capsules for group in module.groups]
    votes: Votes = lambda nodes: module.votes([read(nodes) for read in whole.read], layers[0].weight)  # noqa: E731
    for before, after in pairwise(layers):
        h = scratch(whole.folder, whole.rows[0].num_nodes, before.out_capsules, before.out_channels)
        for block in _route(before, votes, filtered, sizes, whole):
            h[gathered(torch.from_numpy(block.nodes))] = gathered(block.capsules)
        votes, sizes = _votes_of(after, h), [after.in_capsules]
    yield from _route(layers[-1], votes, filtered, sizes, whole, remember)


def _votes_of(layer: CapsuleGraphLayer, h: Tensor) -> Votes:
    return lambda nodes: layer.votes(h[torch.from_numpy(nodes)])


def _route(
    layer: CapsuleGraphLayer,
    votes: Votes,
    filtered: Callable[[np.ndarray, Tensor], Tensor],
    sizes: list[int],
    whole: Whole,
    remember: Remember = lambda t, nodes, c: None,
) -> Iterator[Routed]:
    """Algorithm 1 with the loop over the nodes inside that over the iterations."""
    nodes, shape = whole.rows[0].num_nodes, (layer.out_capsules, layer.out_channels)
    p, p_next = (scratch(whole.folder, len(sizes), nodes, *shape) for _ in range(2))
    b = scratch(whole.folder, nodes, layer.in_capsules, layer.out_capsules)
    for block, together in whole.blocks():
        own = _range(block)
        p[:, together] = _select(b[own].softmax(dim=1), votes(block), sizes)
    for t in range(layer.iterations):
        for block, together in whole.blocks():
            own = _range(block)
            u = layer.bias + filtered(block, p)  # eq. 9
            v = squash(u)  # eq. 10
            if t == layer.iterations - 1:
                yield Routed(block, v, b[own].softmax(dim=1), u)
                continue
            said = votes(block)
            b[own] += layer.beta * (v.unsqueeze(1) * said).sum(dim=-1)  # eq. 13
            c = b[own].softmax(dim=1)  # eq. 12
            remember(t + 1, block, c)
            p_next[:, together] = _select(c, said, sizes)
        p, p_next = p_next, p


def _range(block: np.ndarray) -> slice:
    return slice(int(block[0]), int(block[-1]) + 1) if len(block) else slice(0, 0)


def _select(c: Tensor, votes: Tensor, sizes: list[int]) -> Tensor:
    """Equation 8 for each group of capsules, at the nodes of all processes."""
    groups = [of_group.sum(dim=1) for of_group in (c.unsqueeze(-1) * votes).split(sizes, dim=1)]
    return gathered(torch.stack(groups, dim=1)).transpose(0, 1)
