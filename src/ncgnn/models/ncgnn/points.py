"""Initial points of a search: settings that are known to be good."""

from typing import Any

from ncgnn.data.named.registry import ANY, SYN_CORA, find_info
from ncgnn.models.ncgnn.config import Config, preset
from ncgnn.models.ncgnn.space import parameters

_SIZES = {"num_capsules": 8, "primary_channels": 64, "iterations": 3, "beta": 1.0}
_RATES = {"dropout": 0.9, "m_minus": 0.1, "lr": 1e-3, "zeta_lr": 0.05, "weight_decay": 5e-3}
_START = _SIZES | _RATES | {"hops": 5, "init": "uniform"}
_CITATION = {"normalize_features": True, "dropout": 0.9, "iterations": 4, "m_minus": 0.3, "beta": 5.0}
_DECAY = {"init": "glorot", "dropout": 0.5, "weight_decay": 0.018, "lr": 2.4e-3, "iterations": 2, "m_minus": 0.25}
_OWN_FEATURES = {"zeta_lr": 0.05, "dropout": 0.5, "weight_decay": 1e-3, "normalize_features": True}
_WIKIPEDIA = {"dropout": 0.5, "lr": 5e-3, "weight_decay": 1e-5, "normalize_features": True}
_SMALL = {"num_capsules": 4, "primary_channels": 32, "iterations": 2}
_RAW = _SMALL | {"normalize_features": False, "beta": 5.0, "lr": 5e-3}
_FROM_ZERO = {"hops": [0, 1, 2, 3]}
_ANY = _SMALL | {"hops": [0, 1, 2, 3], "zeta_lr": 0.1, "iterations": 3}
_FIRM = {"dropout": 0.8, "lr": 5.6e-3, "beta": 2.8, "weight_decay": 8.8e-3, "init": "glorot", "m_minus": 0.2}

# what was found on a family of graphs, and on several at once, as changes of _START
_FOUND: dict[str, list[dict[str, Any]]] = {
    "citation": [
        _CITATION,
        _CITATION | {"dropout": 0.8, "weight_decay": 1e-2},
        _CITATION | _DECAY | {"beta": 2.0},
        _CITATION | _DECAY | {"beta": 2.0, "hops": [0, 1, 2, 3, 4, 5], "zeta_lr": 2e-3},
    ],
    "large citation": [
        _SMALL | _CITATION | {"lr": 5e-3},
        _ANY | _FIRM | {"hops": [0, 1, 2, 3, 4, 5]},
        _SMALL | _CITATION | {"lr": 5e-3, "dropout": 0.6, "weight_decay": 1e-2},
        _SMALL | _CITATION | {"lr": 5e-3, "beta": 20.0, "init": "glorot", "iterations": 3},
        _SMALL | _CITATION | {"lr": 5e-3, "dropout": 0.8, "hops": [0, 1, 2, 3, 4, 5]},
        _SMALL | _CITATION | {"lr": 5e-3, "dropout": 0.8, "weight_decay": 1e-2, "normalize_features": False},
        _CITATION | {"dropout": 0.8, "weight_decay": 1e-2},
    ],
    ANY: [
        _ANY | {"dropout": 0.5, "lr": 5e-3, "beta": 5.0, "weight_decay": 5e-4},
        _ANY | {"dropout": 0.5, "lr": 5e-3, "beta": 3.0, "weight_decay": 5e-3, "init": "glorot", "m_minus": 0.2},
        _ANY | {"dropout": 0.2, "lr": 1.7e-2, "beta": 5.8, "weight_decay": 4.5e-4, "iterations": 4},
        _ANY | _FIRM,
        _ANY | _FIRM | {"num_capsules": 8, "primary_channels": 64},
        _ANY | _FIRM | {"iterations": 4, "beta": 5.0, "m_minus": 0.3},
        _ANY | _FIRM | {"dropout": 0.7, "weight_decay": 5e-3},
        _ANY | _FIRM | {"dropout": 0.9},
        _ANY | _FIRM | {"normalize_features": True},
        _ANY | _FIRM | {"zeta_prior": [2.0, 0.0, 0.0, 0.0]},
        _ANY | _FIRM | {"weight_decay": 0.02, "dropout": 0.7},
    ],
    "co-purchase": [
        _RAW | {"dropout": 0.7, "weight_decay": 5e-4},
        _RAW | {"dropout": 0.7, "weight_decay": 5e-4, "top_k": 128},
        _RAW | {"dropout": 0.7, "weight_decay": 5e-4, "top_k": 256},
        _RAW | {"dropout": 0.5, "weight_decay": 5e-3, "init": "glorot", "m_minus": 0.2},
        _RAW | {"dropout": 0.5, "weight_decay": 1e-4, "hops": [0, 1, 2], "zeta_lr": 0.1},
        _RAW | _FIRM | {"iterations": 3, "hops": [0, 1, 2], "zeta_lr": 0.1},
        _RAW | _FIRM | {"iterations": 3, "hops": 2},
        _RAW | {"dropout": 0.8, "weight_decay": 5e-4, "primary_channels": 64},
    ],
    "film": [
        _SMALL | _OWN_FEATURES | _FROM_ZERO | {"zeta_prior": [2.0, 0.0, 0.0, 0.0], "beta": 3.0, "lr": 5e-3},
        _SMALL | _OWN_FEATURES | _FROM_ZERO | {"dropout": 0.7, "weight_decay": 5e-3, "lr": 5e-3, "init": "glorot"},
    ],
    SYN_CORA: [
        _ANY | _FIRM,
        _ANY | _FIRM | {"dropout": 0.6, "weight_decay": 4e-3, "lr": 0.01},
        _ANY | _FIRM | {"normalize_features": True, "lr": 0.01},
        _ANY | _FIRM | {"weight_decay": 0.02, "dropout": 0.5},
        _FROM_ZERO | _OWN_FEATURES | {"beta": 5.0, "lr": 5e-3},
        _FROM_ZERO | _OWN_FEATURES | {"beta": 5.0, "lr": 5e-3, "dropout": 0.8, "weight_decay": 5e-3, "zeta_lr": 0.1},
        _ANY | _FIRM | {"zeta_prior": [2.0, 0.0, 0.0, 0.0]},
        _ANY | _FIRM | {"num_capsules": 8, "primary_channels": 64},
        _ANY | _FIRM | {"zeta_lr": 0.2},
        _ANY | _FIRM | {"weight_decay": 5e-3},
        _ANY | _FIRM | {"dropout": 0.7},
        _ANY | _FIRM | {"beta": 1.0},
        _ANY | _FIRM | {"m_minus": 0.1, "init": "uniform"},
    ],
    "web": [
        _OWN_FEATURES | _FROM_ZERO,
        _OWN_FEATURES | _FROM_ZERO | {"zeta_prior": [2.0, 0.0, 0.0, 0.0]},
        _OWN_FEATURES | _FROM_ZERO | {"beta": 5.0, "lr": 5e-3},
    ],
    "wikipedia": [
        _WIKIPEDIA,
        _WIKIPEDIA | {"beta": 5.0},
        _WIKIPEDIA | {"normalize_features": False},
        _SMALL | _WIKIPEDIA | {"dropout": 0.2, "lr": 0.01},
    ],
    "game": [
        _SMALL | _FROM_ZERO | {"dropout": 0.2, "lr": 0.01, "weight_decay": 1e-5, "m_minus": 0.2},
        _SMALL | _FROM_ZERO | {"dropout": 0.0, "lr": 0.02, "weight_decay": 1e-5, "beta": 5.0},
    ],
}


def known_points(graph: str, filter: str) -> list[dict[str, Any]]:
    """The preset of the graph and good settings of similar graphs; for unknown graphs the paper's settings."""
    info = find_info(graph)
    family = "" if info is None else info.family
    found = _FOUND.get(graph if graph == ANY else family, [{}])
    starts = [preset(graph, filter), *(_START | values for values in found)]
    return [parameters(Config.make({"filter": filter} | values)) for values in starts]
