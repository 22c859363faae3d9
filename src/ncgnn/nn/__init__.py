"""The paper's method: capsules, filters, routing, loss and model, in the paper's symbols."""

from ncgnn.nn.attention import AttentionFilter
from ncgnn.nn.capsules import PrimaryCapsules
from ncgnn.nn.diffusion import DiffusionFilter
from ncgnn.nn.filter import GraphFilter, PreparedFilter
from ncgnn.nn.groups import Beliefs, CapsuleGroup
from ncgnn.nn.loss import margin_loss, soft_margin_loss
from ncgnn.nn.model import NCGNN
from ncgnn.nn.routing import CapsuleGraphLayer, Routing, lengths, proportions, route, squash

__all__ = [
    "NCGNN",
    "AttentionFilter",
    "Beliefs",
    "CapsuleGraphLayer",
    "CapsuleGroup",
    "DiffusionFilter",
    "GraphFilter",
    "PreparedFilter",
    "PrimaryCapsules",
    "Routing",
    "lengths",
    "margin_loss",
    "proportions",
    "route",
    "soft_margin_loss",
    "squash",
]
