"""All models, one file or folder each, named as the model is. :mod:`ncgnn.models.base` is what they share."""

from ncgnn.models.base.model import Fitted, Model, Sizes
from ncgnn.models.base.prepared import PreparedGraph
from ncgnn.models.base.registry import all_models, find_model, import_model, model_names, register
from ncgnn.models.base.settings import RunSettings, TrainingSettings

__all__ = [
    "Fitted",
    "Model",
    "PreparedGraph",
    "RunSettings",
    "Sizes",
    "TrainingSettings",
    "all_models",
    "find_model",
    "import_model",
    "model_names",
    "register",
]
