"""Node classification whose predictions come with their reasons: node-level capsule graph neural networks."""

from ncgnn.errors import InputError
from ncgnn.nn import (
    NCGNN,
    AttentionFilter,
    CapsuleGraphLayer,
    DiffusionFilter,
    PrimaryCapsules,
    Routing,
    margin_loss,
    squash,
)
from ncgnn.sparse import Threshold, TopK

__version__ = "0.1.0"

__all__ = [
    "NCGNN",
    "AttentionFilter",
    "CapsuleGraphLayer",
    "DiffusionFilter",
    "InputError",
    "PrimaryCapsules",
    "Routing",
    "Threshold",
    "TopK",
    "margin_loss",
    "squash",
]
