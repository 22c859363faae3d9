"""What a search tries on a graph without a preset: settings that are each the best on some kind of graph."""

from typing import Any

from ncgnn.models.base.chosen_edges import IN, OUT
from ncgnn.models.base.prepared import PreparedGraph
from ncgnn.models.ncgnn.config import Config

AVERAGED: dict[str, Any] = {
    # dropout where it leaves the network as it predicts: of features, and of capsules before they are normalised
    **{"dropout": 0.0, "early_dropout": 0.5, "feature_dropout": 0.5},
    **{"decay": "first", "weight_decay": 5e-3, "lr": 0.01, "averaging": 0.9},
}
_WEAK = {"dropout": 0.5, "lr": 0.01, "weight_decay": 1e-5, "m_minus": 0.15, "iterations": 2, "beta": 1.0}
_PAGERANK = {"filter": "diffusion", "alpha": 0.1, "steps": 10}
_LIGHT = {"early_dropout": 0.2, "feature_dropout": 0.0, "weight_decay": 1e-5, "lr": 0.02}
_APART = {"hops": [0], "num_capsules": 2, "groups": [{"hops": [hop], "num_capsules": 2} for hop in (1, 2)]}
_BELIEFS = {"groups": [{"reads": "beliefs", "scale": 0.3}]}


def settings_to_try(graph: PreparedGraph) -> dict[str, Config]:
    """The candidates for this graph, by name."""
    found: dict[str, dict[str, Any]] = {
        "default": {},
        "averaged weights": AVERAGED,
        "averaged weights, PageRank": AVERAGED | _PAGERANK,
        "weak regularisation": _WEAK,
        "own features first": {"zeta_prior": [2.0, 0.0, 0.0, 0.0], "dropout": 0.5, "weight_decay": 1e-3, "lr": 5e-3},
        "beliefs": AVERAGED | _BELIEFS,
        "neighbours apart": AVERAGED | _LIGHT | _APART,
        "links": _WEAK | {"hops": [1, 2, 3], "class_channels": 8, "groups": [{"reads": "links"}]},
    }
    tables = graph.data.get("edge_tables") or {}
    if any(table.is_directed for table in tables.values()):
        found |= _DIRECTED
    if len(tables) > 1:
        found["tables apart"] = {"hops": [0], "groups": [{"edges": name, "hops": [1]} for name in tables]}
    return {name: Config.make(settings) for name, settings in found.items()}


_DIRECTED: dict[str, dict[str, Any]] = {
    "links by direction": _WEAK
    | {"reads": "links", "edges": OUT, "hops": [0], "class_channels": 8}
    | {"groups": [{"reads": "links", "edges": IN}]},
    "features by direction": {"hops": [0], "groups": [{"edges": IN, "hops": [1]}, {"edges": OUT, "hops": [1]}]},
}
