"""All models, one file or folder per model, with the same name. :mod:`ncgnn.models.base` is shared by all."""

from ncgnn.models.base.model import AnyModel, Fitted, Model, Sizes
from ncgnn.models.base.prepared import PreparedGraph
from ncgnn.models.base.registry import all_models, find_model, import_model, model_names, reference, register, resolve
from ncgnn.models.base.settings import RunSettings, TrainingSettings

__all__ = [
    "AnyModel",
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
    "reference",
    "register",
    "resolve",
]
