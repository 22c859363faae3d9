"""NCGNN with its settings as the constructor's arguments."""

from collections.abc import Sequence
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any, Self, cast

import numpy as np

from ncgnn.classifier.estimator import Graph, NodeClassifier
from ncgnn.errors import InputError
from ncgnn.models import Model, RunSettings
from ncgnn.models.ncgnn import MODEL
from ncgnn.models.ncgnn.config import Config


def _signature(settings: type[RunSettings]) -> Signature:
    """A constructor with a parameter for each setting; defaults that are lists become tuples, which nobody changes."""
    parameters = [Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)]
    for name, field in settings.model_fields.items():
        default = field.get_default(call_default_factory=True)
        default = tuple(default) if isinstance(default, list) else default
        annotation = field.annotation
        parameters.append(Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=annotation))
    return Signature(parameters)


class NCGNNClassifier(NodeClassifier):
    """Classifies the nodes of a graph, and of other graphs with the same features, and gives its reasons.

    The constructor's arguments are the fields of :class:`~ncgnn.Config`, which says what each means; it only stores
    them. Its attributes are those of :class:`~ncgnn.NodeClassifier`.

    Example:
        >>> import ncgnn
        >>> data = ncgnn.split_per_class(ncgnn.load_dataset("karate"), train=3, val=8)
        >>> clf = ncgnn.NCGNNClassifier(hops=2, epochs=20).fit(data)
        >>> clf.predict(data).shape
        (34,)
    """

    def __init__(self, *values: Any, **settings: Any) -> None:
        bound = _SIGNATURE.bind(self, *values, **settings)
        bound.apply_defaults()
        for name, value in list(bound.arguments.items())[1:]:
            setattr(self, name, value)

    @classmethod
    def from_config(cls, config: Config) -> Self:
        """A classifier with the settings of a configuration."""
        return cls(**config.model_dump())

    @property
    def definition(self) -> Model[Any]:
        return MODEL

    @property
    def config(self) -> Config:
        """The constructor's arguments, checked."""
        values = self.get_params()
        lists = {key: list(v) for key, v in values.items() if isinstance(v, Sequence) and not isinstance(v, str)}
        return Config.make(values | lists, where=type(self).__name__)

    def transform(self, data: Graph) -> np.ndarray:
        """Each node's class capsules [N, C, f_c]."""
        routing = self.scored(data).routing
        assert routing is not None
        capsules: np.ndarray = routing.capsules.cpu().numpy()
        return capsules

    @classmethod
    def load(cls, path: str | Path) -> Self:
        return cast(Self, super().load(path))

    @classmethod
    def _of_model(cls, path: str | Path, name: str) -> Self:
        if name != MODEL.name:
            raise InputError(f"{path}: is a model of {name!r}: load it with ncgnn.NodeClassifier")
        return cls()

    def _store_settings(self, settings: RunSettings) -> None:
        self.set_params(**settings.model_dump())


_SIGNATURE = _signature(Config)
NCGNNClassifier.__init__.__signature__ = _SIGNATURE  # type: ignore[attr-defined]
