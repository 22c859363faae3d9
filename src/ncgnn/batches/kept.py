"""The routing of all nodes in files, and what of it concerns a few of them."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ncgnn.batches.inputs import Batches
from ncgnn.batches.neighbourhood import neighbourhood
from ncgnn.batches.scratch import scratch
from ncgnn.batches.whole import BLOCK, sweep
from ncgnn.nn import NCGNN, Routing, squash
from ncgnn.train.inputs import Inputs
from ncgnn.train.processes import gathered


@dataclass(frozen=True, eq=False)
class Around:
    """The last iteration of routing at some nodes.

    Attributes:
        nodes: these and their neighbours in the filter, ascending [n].
        targets: places of these among them.
        inputs: what the model is given of all of them; only targets have rows of the filter.
        routing: as for the whole graph.
    """

    nodes: np.ndarray
    targets: np.ndarray
    inputs: Inputs
    routing: Routing


class KeptRouting:
    """Exact routing of all nodes, computed once; votes are computed again where they are needed.

    Args:
        module: a model without hidden layers.
        batches: the graph.
    """

    @torch.no_grad()
    def __init__(self, module: NCGNN, batches: Batches) -> None:
        self.module, self.batches = module.eval(), batches
        layer, nodes = module.capsule_layers[-1], batches.rows[0].num_nodes
        self._couplings = scratch(batches.folder, nodes, layer.in_capsules, layer.out_capsules)
        self._u = scratch(batches.folder, nodes, layer.out_capsules, layer.out_channels)
        for block in sweep(module, batches.whole):
            own = gathered(torch.from_numpy(block.nodes))
            self._couplings[own], self._u[own] = gathered(block.couplings), gathered(block.u)

    @property
    def couplings(self) -> Iterator[Tensor]:
        """Those of all nodes, block by block [n, K, C]."""
        yield from self._couplings.split(BLOCK)

    @torch.no_grad()
    def around(self, targets: np.ndarray) -> Around:
        """For ascending targets."""
        near = neighbourhood(self.batches.rows, targets, "history", 1)
        read = [one(near.nodes) for one in self.batches.read]
        at = torch.from_numpy(near.nodes)
        u, xi = self._u[at], self.module.filter.hop_weights()
        votes = self.module.votes(read, self.module.capsule_layers[-1].weight)
        weights = None if xi is None else xi.to(u)
        routing = Routing(squash(u), self._couplings[at], u, votes, weights)
        return Around(near.nodes, near.targets, Inputs((read, near.filters)), routing)
