"""Node classification whose predictions come with their reasons: node-level capsule graph neural networks."""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

# Threads that spin while they wait take the cores from those that work: measured on two busy cores, that made small
# products fifty times slower. Read when torch is loaded, so it helps where ncgnn is imported before torch.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

if TYPE_CHECKING:
    from ncgnn.check import check_graph
    from ncgnn.classifier import NCGNNClassifier, NodeClassifier, NodeEstimator
    from ncgnn.data import (
        load_dataset,
        published_split,
        read_graph,
        save_graph,
        set_aside,
        split_fractions,
        split_per_class,
        split_stratified,
        statistics,
        syn_cora,
        usual_split,
    )
    from ncgnn.errors import InputError
    from ncgnn.explain import GraphExplainer, NodeExplanation
    from ncgnn.models.ncgnn.config import Config, preset
    from ncgnn.nn import (
        NCGNN,
        AttentionFilter,
        CapsuleGraphLayer,
        DiffusionFilter,
        GraphFilter,
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
    "Config",
    "DiffusionFilter",
    "GraphExplainer",
    "GraphFilter",
    "InputError",
    "NCGNNClassifier",
    "NodeClassifier",
    "NodeEstimator",
    "NodeExplanation",
    "PrimaryCapsules",
    "Routing",
    "Threshold",
    "TopK",
    "check_graph",
    "load_dataset",
    "margin_loss",
    "preset",
    "published_split",
    "read_graph",
    "save_graph",
    "set_aside",
    "split_fractions",
    "split_per_class",
    "split_stratified",
    "squash",
    "statistics",
    "syn_cora",
    "usual_split",
]


def __getattr__(name: str) -> Any:
    # Importing PyG takes seconds, so names come when asked for: `ncgnn --help` and the layers alone stay quick.
    if name in __all__:
        for home in ("errors", "sparse", "nn", "data", "models.ncgnn", "explain", "classifier", "check"):
            module = import_module(f"ncgnn.{home}")
            if hasattr(module, name):
                return getattr(module, name)
    raise AttributeError(f"module 'ncgnn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
