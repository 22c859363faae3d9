"""The models that NCGNN is compared with, on the library's own sparse products."""

from ncgnn.baselines.run import Fit, fit
from ncgnn.baselines.settings import Settings, published_gcn, published_mlp, tuned_gcn
from ncgnn.models.base.layers import LayerStack

__all__ = ["Fit", "LayerStack", "Settings", "fit", "published_gcn", "published_mlp", "tuned_gcn"]
