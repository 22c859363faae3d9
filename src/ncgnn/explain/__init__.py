"""Exact explanations of predictions: contributions, computed by the model itself, that add up to the score."""

from ncgnn.explain.contributions import (
    Decomposition,
    Top,
    by_capsule,
    by_group,
    by_hop,
    by_node,
    decisive,
    decompose,
    of_bias,
)
from ncgnn.explain.counterfactual import Counterfactual
from ncgnn.explain.explainer import GraphExplainer
from ncgnn.explain.features import FeatureShares
from ncgnn.explain.groups import TracedGroup
from ncgnn.explain.in_parts import PartsExplainer
from ncgnn.explain.node import NodeExplanation
from ncgnn.explain.parts import Candidate, GroupPart, Neighbour, Part
from ncgnn.explain.table import write_table
from ncgnn.explain.targets import Targets, ahead_of_others, make_targets
from ncgnn.explain.trace import Selection, Trace, is_explained, selection, trace_model, trace_scored

__all__ = [
    "Candidate",
    "Counterfactual",
    "Decomposition",
    "FeatureShares",
    "GraphExplainer",
    "GroupPart",
    "Neighbour",
    "NodeExplanation",
    "Part",
    "PartsExplainer",
    "Selection",
    "Targets",
    "Top",
    "Trace",
    "TracedGroup",
    "ahead_of_others",
    "by_capsule",
    "by_group",
    "by_hop",
    "by_node",
    "decisive",
    "decompose",
    "is_explained",
    "make_targets",
    "of_bias",
    "selection",
    "trace_model",
    "trace_scored",
    "write_table",
]
