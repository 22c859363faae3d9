"""Explanations of predictions that are the model's own numbers: they add up to the score that they explain."""

from ncgnn.explain.contributions import Decomposition, Top, by_capsule, by_hop, by_node, decompose, of_bias
from ncgnn.explain.explainer import GraphExplainer
from ncgnn.explain.features import FeatureShares
from ncgnn.explain.node import Neighbour, NodeExplanation, Part
from ncgnn.explain.selection import Selection, selection
from ncgnn.explain.table import write_table
from ncgnn.explain.targets import Targets, make_targets
from ncgnn.explain.trace import Trace, trace_model

__all__ = [
    "Decomposition",
    "FeatureShares",
    "GraphExplainer",
    "Neighbour",
    "NodeExplanation",
    "Part",
    "Selection",
    "Targets",
    "Top",
    "Trace",
    "by_capsule",
    "by_hop",
    "by_node",
    "decompose",
    "make_targets",
    "of_bias",
    "selection",
    "trace_model",
    "write_table",
]
