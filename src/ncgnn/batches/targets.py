"""Inputs whose scores are wanted for some nodes only."""

from collections.abc import Iterator
from dataclasses import dataclass

from torch import Tensor, nn
from torch_geometric.data import Data

from ncgnn.train.inputs import Inputs


@dataclass(frozen=True)
class Targets(Inputs):
    """Some nodes of a graph: the last iteration of routing leaves out the others.

    Attributes:
        targets: these nodes.
    """

    targets: Tensor

    def scores(self, module: nn.Module) -> Tensor:
        """Class scores of the targets [n, C]."""
        scores: Tensor = module(*self.arguments, targets=self.targets)
        return scores


class FullBatch(Inputs):
    """A graph so large that training and validation only compute the scores of the nodes they need."""

    def batches(self, epoch: int, split: Data, nodes: Tensor) -> Iterator[tuple[Inputs, Data]]:
        yield self.only(split, nodes)

    def only(self, split: Data, nodes: Tensor) -> tuple[Inputs, Data]:
        targets = nodes.nonzero().flatten()
        return Targets(self.arguments, targets), restricted(split, targets)


def restricted(split: Data, nodes: Tensor) -> Data:
    """Labels and masks of some nodes, whose numbers are ``n_id``."""
    kept = {key: split[key][nodes] for key in ("y", "train_mask", "val_mask")}
    return Data(num_nodes=len(nodes), n_id=nodes, **kept)
