"""The model protocol: settings, inputs, training and search space."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, NamedTuple, TypeVar

import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.data import Data

from ncgnn.errors import InputError
from ncgnn.memory import check_memory
from ncgnn.models.base.memory import COPIES, expected_bytes
from ncgnn.models.base.prepared import PreparedGraph
from ncgnn.models.base.presets import read_preset
from ncgnn.models.base.settings import RunSettings, TrainingSettings, scaled, stepped
from ncgnn.models.base.weights import load_weights, on_no_device
from ncgnn.nn import Routing
from ncgnn.text import several
from ncgnn.train.balanced import balanced
from ncgnn.train.device import CPU, chosen_device, moved
from ncgnn.train.epoch import Epoch, accuracy
from ncgnn.train.inputs import Inputs
from ncgnn.train.loop import Training, class_scores, train
from ncgnn.train.objectives import CrossEntropy, Stage
from ncgnn.train.optimiser import adam
from ncgnn.train.reproducible import seeded
from ncgnn.train.stopping import Patience

if TYPE_CHECKING:
    from optuna.trial import BaseTrial

Knows = Literal["features", "graph", "both"]
USES: dict[Knows, str] = {"features": "features", "graph": "graph and labels", "both": "features and graph"}
"""The same in words."""

OnEpoch = Callable[[Epoch], None]
Change = Callable[[Training], Training]
S = TypeVar("S", bound=RunSettings)


class Sizes(NamedTuple):
    """The sizes that determine the shapes of a model's weights."""

    features: int
    classes: int
    nodes: int

    @classmethod
    def of(cls, data: Data) -> "Sizes":
        return cls(data.x.shape[1], len(data.class_names), int(data.num_nodes or 0))


@dataclass
class Fitted:
    """A trained module with the weights of its best epoch, and its training history."""

    module: nn.Module
    best: Epoch
    history: list[Epoch] = field(repr=False)


def in_one_epoch(module: nn.Module, probabilities: Tensor, split: Data, on_epoch: OnEpoch) -> Fitted:
    """The history of a module that was not trained in epochs."""
    log, masks = probabilities.clamp(min=1e-12).log(), (split.train_mask, split.val_mask)
    on_train, on_val = (F.nll_loss(log[mask], split.y[mask]).item() for mask in masks)
    epoch = Epoch(1, on_train, on_val, accuracy(probabilities, split.y, split.val_mask))
    on_epoch(epoch)
    return Fitted(module.eval(), epoch, [epoch])


class Model(ABC, Generic[S]):
    """A model that can be trained, tuned, compared, benchmarked, saved and loaded by name.

    A subclass defines a name, its settings and a module; everything else has a default that suits a PyG module
    ``module(x, edge_index)`` whose outputs are logits.

    Attributes:
        name: name on the command line and in model files.
        title: name in tables.
        settings_class: class of its settings.
        variants: variants that are tuned separately, the default first.
        knows: what it uses: ``features``, ``graph`` (edges and labels) or ``both``.
        has_reasons: whether its predictions are explained exactly.
        takes_targets: whether it can learn from soft targets for all nodes.
        rival: rank among the simpler models that others are compared with, simplest first; None if it is not one.
        in_search: whether a search also trains it, as a rival and a teacher; all others only stand in comparisons.
        measured: rank among the models that ``bench`` measures by default; None if it is not one.
        depth: name of the setting that is its number of hops; None if there is none.
        sized_by: the settings that decide on its memory.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    settings_class: type[S]
    variants: ClassVar[tuple[str, ...]] = ()
    knows: ClassVar[Knows] = "both"
    has_reasons: ClassVar[bool] = False
    takes_targets: ClassVar[bool] = True
    rival: ClassVar[int | None] = None
    in_search: ClassVar[bool] = False
    measured: ClassVar[int | None] = None
    depth: ClassVar[str | None] = None
    sized_by: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        settings = cls.__dict__.get("settings_class")
        if settings is TrainingSettings:  # shared by all models, and so without an identity of its own
            place = {"__module__": cls.__module__, "__qualname__": f"{cls.__qualname__}.settings_class"}
            settings = cls.settings_class = type("settings_class", (settings,), place)
        if settings is not None and not hasattr(settings, "identity") and hasattr(cls, "name"):
            settings.identity = cls.name

    def prepare(self, graph: PreparedGraph, settings: S) -> Inputs:
        """The inputs of the module for a graph; default: dense features and edges."""
        return Inputs((graph.dense_features(_training(settings).normalize_features), graph.data.edge_index))

    @abstractmethod
    def build(self, sizes: Sizes, settings: S) -> nn.Module:
        """The module, initialised from torch's random state."""

    def training(self, module: nn.Module, settings: S) -> Training:
        """Objective, optimiser and stopping rule; default: cross-entropy, Adam, and the best weights."""
        how = _training(settings)
        optimizer = adam([{"params": list(module.parameters()), "weight_decay": how.weight_decay}], how.lr)
        return Training(CrossEntropy(), optimizer, Patience(how.patience), how.epochs)

    def fit(
        self,
        inputs: Inputs,
        split: Data,
        settings: S,
        on_epoch: OnEpoch = lambda epoch: None,
        change: Change = lambda how: how,
    ) -> Fitted:
        """Train on ``split.train_mask``; stopping and the choice of weights only use ``split.val_mask``.

        The result depends on the arguments only: the random state of the caller is neither used nor changed.
        ``change`` may replace parts of :meth:`training`, such as its objective. The module that is returned is on the
        CPU, whatever device it was trained on.
        """
        self.check_fits(split, settings)
        sizes, device = Sizes.of(split), chosen_device()
        if device != CPU:
            inputs, split = moved(inputs, split, device)
        history: list[Epoch] = []
        with seeded(settings.seed, device):
            stage: Stage | None = Stage(inputs, split)
            while stage is not None:
                module = self._built(sizes, settings).to(device)
                how = self.training(module, settings)
                if getattr(settings, "balance", False):
                    how = replace(how, objective=balanced(how.objective))
                how = change(how)
                how = how if stage.objective is None else replace(how, objective=stage.objective)
                first = history[-1].epoch + 1 if history else 1
                trained = train(module, stage.inputs, stage.split, how, on_epoch, first)
                history += trained.history
                scores = partial(class_scores, module, stage.inputs)
                stage = how.objective.next_stage(scores, stage.inputs, stage.split)
        return Fitted(module.cpu(), trained.best, history)

    def check_fits(self, data: Data, settings: S) -> None:
        """:class:`~ncgnn.InputError` if there is too little memory for training; to be asked before the preparation."""
        what = f"training {self.title} on {several(int(data.num_nodes or 0), 'node')} with these settings"
        check_memory(self.memory(data, settings), what, "make its layers smaller", *self.sized_by)

    def _built(self, sizes: Sizes, settings: S) -> nn.Module:
        try:
            return self.build(sizes, settings)
        except ValueError as error:  # a setting that the module refuses
            raise InputError(f"{self.title}: {error}") from error

    def scores(self, module: nn.Module, inputs: Inputs) -> tuple[Tensor, Routing | None]:
        """Class scores of all nodes [N, C] and, for models that can be explained, the routing behind them."""
        return class_scores(module, inputs), None

    def hidden(self, module: nn.Module, inputs: Inputs) -> Tensor:
        """Hidden features of each node [N, h]."""
        raise InputError(f"{self.title} has no hidden features")

    def probabilities(self, scores: Tensor) -> Tensor:
        """Scores normalised to sum to one, before calibration."""
        return scores.softmax(dim=-1)

    def restore(self, state: Mapping[str, Tensor], sizes: Sizes, settings: S) -> nn.Module:
        """The module with saved weights; raises ``ValueError`` if they do not fit."""
        return load_weights(lambda: self.build(sizes, settings), state)

    def memory(self, data: Data, settings: S, copies: int = COPIES) -> float:
        """Bytes that training takes, or with ``copies=1`` prediction, estimated before the module is built; zero if
        that cannot be told."""
        try:
            return expected_bytes(on_no_device(lambda: self.build(Sizes.of(data), settings)), data, copies)
        except (RuntimeError, ValueError):  # computes with its weights, or refuses a setting, as building will tell
            return 0.0

    def restart(self, settings: S) -> S | None:
        """Other settings for a training that ended with one class for all nodes; None if there are none."""
        return None

    def reads_links(self, settings: S) -> bool:
        """Whether it recognises nodes by whom they are linked with, and so has to know these again."""
        return False

    def reads_labels(self, settings: S) -> bool:
        """Whether it uses the labels of training nodes to predict others, and so has to know them again."""
        return False

    def of_variant(self, variant: str) -> dict[str, Any]:
        """The settings that define the variant."""
        return {}

    def preset(self, graph: str, variant: str = "") -> S | None:
        """The tuned settings for a named graph; None if there are none."""
        found = read_preset(self.name, graph, variant)
        where = f"preset of {self.name} for {graph}"
        return None if found is None else self.settings_class.make(self.of_variant(variant) | found, where)

    def starting(self, graph: str, variant: str = "") -> dict[str, Any]:
        """The initial settings of a run: the preset of a named graph, otherwise the defaults."""
        return self.of_variant(variant) | (read_preset(self.name, graph, variant) or {})

    def candidates(self) -> list[S]:
        """The settings to try on a graph without a preset; the best on validation nodes are used."""
        return [self.settings_class.make({})]

    @property
    def has_portfolio(self) -> bool:
        """Whether it has settings for a search to try."""
        return type(self).portfolio is not Model.portfolio

    def portfolio(self, graph: PreparedGraph) -> dict[str, S]:
        """What a search tries on a graph, by name; default: the candidates."""
        return {str(number): settings for number, settings in enumerate(self.candidates(), 1)}

    def published(self, graph: str, hops: int | None = None) -> S:
        """The settings of the model's authors: the defaults, or ``presets/<model>/<graph>-published.toml`` if they
        differ for a graph."""
        return self.within(self.settings_class.make(read_preset(self.name, graph, "published") or {}), hops)

    def within(self, settings: S, hops: int | None) -> S:
        """The settings with a receptive field of exactly ``hops`` hops; None leaves it as it is."""
        if hops is None:
            return settings
        if self.depth is None:
            raise InputError(f"{self.title} has no setting for the number of hops")
        return self.settings_class.make(settings.model_dump() | {self.depth: hops})

    def label(self, variant: str = "") -> str:
        """What studies and settings files of a search are called, after the graph."""
        return f"{self.name}-{variant}" if variant else self.name

    def space(self, trial: "BaseTrial", graph: str, variant: str = "") -> dict[str, Any]:
        """Settings suggested by a search; default: learning rate, weight decay and dropout, if there is any."""
        found: dict[str, Any] = {
            "lr": scaled(trial, "lr", 1e-3, 0.05),
            "weight_decay": scaled(trial, "weight_decay", 1e-5, 1e-2),
            "normalize_features": trial.suggest_categorical("normalize_features", (False, True)),
        }
        if "dropout" in self.settings_class.model_fields:
            found["dropout"] = stepped(trial, "dropout", 0.0, 0.9, 0.1)
        return found

    def points(self, graph: str, variant: str = "") -> list[dict[str, Any]]:
        """Points that a search tries first; default: the default settings."""
        names = ("lr", "weight_decay", "normalize_features", "dropout")
        return [self.settings_class.make({}).model_dump(include=set(names))]

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class OnNormalizedEdges(Model[S]):
    """A model ``module(x, edge_index, edge_weight)`` on the normalised adjacency, which is computed once."""

    def prepare(self, graph: PreparedGraph, settings: S) -> Inputs:
        x = graph.dense_features(_training(settings).normalize_features)
        return Inputs((x, *graph.normalized_edges))


def _training(settings: RunSettings) -> TrainingSettings:
    """The settings used by the defaults of :class:`Model`."""
    if not isinstance(settings, TrainingSettings):
        raise InputError(f"{type(settings).__name__} has no learning rate: this model is not trained step by step")
    return settings


AnyModel = Model[Any]
