"""Memory that a model takes, before it is built."""

from torch import nn
from torch_geometric.data import Data

VALUE = 4  # bytes of a float32
COPIES = 4  # results with what the backward pass needs of them; weights with gradient and Adam's moments


def expected_bytes(module: nn.Module, data: Data, copies: int) -> float:
    """An estimate from below for layers of any kind: weights, and for every node a row from each and its scores."""
    parameters = list(module.parameters())
    weights = sum(parameter.numel() for parameter in parameters)
    widths = sum(min(parameter.shape) for parameter in parameters if parameter.dim() == 2) + len(data.class_names)
    return float(VALUE * copies * weights + VALUE * int(data.num_nodes or 0) * widths)
