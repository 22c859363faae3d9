"""Models with scikit-learn's manners: fit, predict, save, load."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any, Self, TypeAlias, cast

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from torch import Tensor, nn
from torch_geometric.data import Data

from ncgnn.batches import Batches
from ncgnn.calibration import Calibration
from ncgnn.classifier.model_file import Header, read_model, write_model
from ncgnn.data import Encoding, complete, with_encoding
from ncgnn.data.checks import check_features, check_split, members
from ncgnn.errors import InputError
from ncgnn.explain import GraphExplainer, NodeExplanation, PartsExplainer
from ncgnn.memory import check_memory
from ncgnn.models import Fitted, Model, PreparedGraph, RunSettings, Sizes, model_names, reference, resolve
from ncgnn.nn import NCGNN, Routing
from ncgnn.scored import NOT_CALIBRATED, Scored, part_of
from ncgnn.search import Found, search
from ncgnn.search.attempts import is_collapsed
from ncgnn.text import several
from ncgnn.train.epoch import Epoch
from ncgnn.train.inputs import Inputs

Graph: TypeAlias = "Data | PreparedGraph"
OnEpoch = Callable[[Epoch], None]


class NodeClassifier(ClassifierMixin, BaseEstimator):
    """Classifies the nodes of a graph with any model of the registry, and those of other graphs with the same features.

    The constructor only stores its arguments. What is learned ends in an underscore.

    Args:
        model: the name of the model, as ``ncgnn.models.model_names()`` lists them.
        settings: its settings, all or those that differ from the default.

    Attributes:
        model_: the trained module.
        config_: the settings it was trained with.
        classes_: class names, or numbers where there are none; column i of ``predict_proba`` belongs to
            ``classes_[i]``.
        calibration_: the :class:`~ncgnn.calibration.Calibration`, or ``None`` if no nodes were set aside for it.
        feature_names_in_: names of the features it was trained on.
        encoding_: how tables became these features, for :func:`~ncgnn.read_graph` of later tables; ``None`` without
            tables.
        history_: a row of :class:`~ncgnn.train.Epoch` for each epoch.
        best_: the epoch whose weights were kept.
        seconds_: how long training took.

    Example:
        >>> import ncgnn
        >>> data = ncgnn.split_per_class(ncgnn.load_dataset("karate"), train=3, val=8)
        >>> clf = ncgnn.NodeClassifier("gcn", {"epochs": 20}).fit(data)
        >>> clf.predict(data).shape
        (34,)
    """

    model_: nn.Module
    config_: Any
    encoding_: Encoding | None
    found_: Found
    linked_: list[str] | None = None
    known_: dict[str, int] | None = None

    def __init__(self, model: str = "ncgnn", settings: RunSettings | Mapping[str, Any] | None = None) -> None:
        self.model = model
        self.settings = settings

    @property
    def definition(self) -> Model[Any]:
        """The model in the registry."""
        return resolve(self.model)

    @property
    def config(self) -> Any:
        """The settings, checked."""
        expected = self.definition.settings_class
        if isinstance(self.settings, expected):
            return self.settings
        if isinstance(self.settings, RunSettings):
            given = type(self.settings).__name__
            raise InputError(f"{self.definition.title} takes {expected.__name__} as settings, not {given}")
        return self.definition.settings_class.make(self.settings or {}, where=type(self).__name__)

    def fit(self, data: Graph, on_epoch: OnEpoch = lambda epoch: None) -> Self:
        """Train on ``data.train_mask``; ``data.val_mask`` decides when to stop and which weights to keep.

        Args:
            data: a graph with ``x``, ``edge_index``, ``y`` (-1 where unlabelled) and one split as masks; draw one
                with :func:`~ncgnn.split_per_class`, :func:`~ncgnn.split_fractions` or
                :func:`~ncgnn.published_split`. With :func:`~ncgnn.set_aside` it has nodes to calibrate on.
            on_epoch: called after each epoch.
        """
        self.fit_scored(data, on_epoch)
        return self

    def fit_scored(self, data: Graph, on_epoch: OnEpoch = lambda epoch: None) -> Scored:
        """As :meth:`fit`, and the scores of the graph's nodes."""
        model, config, start = self.definition, self.config, perf_counter()
        graph = PreparedGraph.of(data)
        check_split(graph.data)
        model.check_fits(graph.data, config)
        scored = self.take(graph, config, model.fit(model.prepare(graph, config), graph.data, config, on_epoch))
        if is_collapsed(scored.shares, graph.data) and self.history_[-1].epoch > getattr(config, "patience", np.inf):
            scored = self._restarted(graph, scored, on_epoch)
        self.seconds_ = perf_counter() - start
        return scored

    @staticmethod
    def search(
        data: Graph,
        model: str = "ncgnn",
        level: str = "quick",
        seed: int = 0,
        minutes: float | None = None,
        folder: str | Path | None = None,
    ) -> "NodeClassifier":
        """A classifier with the settings that are best on the validation nodes, trained; ``found_`` tells what was
        tried. A quick search takes about as long as ten trainings.

        Args:
            data: a graph with one split, as for :meth:`fit`.
            model: whose settings are searched.
            level: ``"quick"`` or ``"thorough"``.
            seed: the same seed gives the same model, unless ``minutes`` cuts the search short.
            minutes: time limit.
            folder: stores finished trainings; an interrupted search continues there.
        """
        start, graph = perf_counter(), PreparedGraph.of(data)
        place = None if folder is None else Path(folder)
        found = search(graph, resolve(model), level, seed, folder=place, minutes=minutes)
        self = NodeClassifier(model, found.settings)
        self.take(graph, found.settings, found.fitted)
        self.found_, self.seconds_ = found, perf_counter() - start
        return self

    def _restarted(self, graph: PreparedGraph, scored: Scored, on_epoch: OnEpoch) -> Scored:
        """After a training that ended with one class for all nodes: with other settings, if there are any."""
        model, before = self.definition, (self.config_, Fitted(self.model_, self.best_, self.history_))
        one = scored.classes[int(scored.predicted[graph.data.val_mask.numpy()][0])]
        what = f"{model.title} predicts {one!r} for all validation nodes"
        other = model.restart(self.config_)
        if other is not None:
            fitted = model.fit(model.prepare(graph, other), graph.data, other, on_epoch)
            again = self.take(graph, other, fitted)
            if not is_collapsed(again.shares, graph.data):
                changed = {
                    key: value for key, value in other.model_dump().items() if value != before[0].model_dump()[key]
                }
                told = ", ".join(f"{key}={value}" for key, value in changed.items())
                warnings.warn(f"{what}; trained again with {told}", stacklevel=4)
                return again
            scored = self.take(graph, *before)
        warnings.warn(f"{what}; search for settings, or change them", stacklevel=4)
        return scored

    def take(self, graph: PreparedGraph, config: RunSettings, fitted: Fitted) -> Scored:
        """Become a model that was trained elsewhere on this graph, and score its nodes."""
        inputs = self.definition.prepare(graph, config)
        self.config_, self.model_, self.num_nodes_ = config, fitted.module, int(graph.data.num_nodes or 0)
        self.best_, self.history_ = fitted.best, fitted.history
        data, ids = graph.data, list(graph.data.node_ids)
        self.linked_ = ids if self.definition.reads_links(config) else None
        labelled = data.train_mask.nonzero().flatten().tolist() if self.definition.reads_labels(config) else None
        self.known_ = None if labelled is None else {ids[i]: int(data.y[i]) for i in labelled}
        self._describe(graph.data.class_names, graph.data.feature_names, graph.data.get("encoding"))
        self.calibration_: Calibration | None = None
        scored = self._score(graph.data, inputs)
        if graph.data.get("calibration_mask") is not None:
            aside = graph.data.calibration_mask.cpu()
            self.calibration_ = Calibration.fit(scored.shares[aside].numpy(), graph.data.y.cpu()[aside].numpy())
            scored = replace(scored, calibration=self.calibration_)
        self.seconds_ = 0.0
        return scored

    def _describe(self, classes: Sequence[str], features: Sequence[str], encoding: Encoding | None) -> None:
        numbered = list(classes) == [str(i) for i in range(len(classes))]
        self.classes_ = np.arange(len(classes)) if numbered else np.array(classes, dtype=str)
        self.feature_names_in_ = np.array(features, dtype=object)
        self.n_features_in_ = len(features)
        self.encoding_ = encoding

    def scored(self, data: Graph, whole: bool = False) -> Scored:
        """One forward pass: the scores of a graph's nodes, and all that was computed on the way. ``whole`` is for
        explanations: it uses the full batch even if the model was trained in batches."""
        return self._score(*self._read(data, whole))

    def scored_parts(self, data: Graph, size: int, first: int = 0) -> Iterator[Scored]:
        """The scores of all nodes from number ``first`` on, ``size`` nodes at a time. For a model that was trained in
        batches, only one part is in memory; without routing, so parts are not explained."""
        found, inputs = self._read(data)
        if not isinstance(inputs, Batches):
            whole = self._score(found, inputs)
            starts = range(first, int(found.num_nodes or 0), size)
            yield from (whole.part(slice(start, start + size)) for start in starts)
            return
        start = first
        for scores in inputs.parts_of_scores(self._fitted(), size, first):
            data = part_of(found, slice(start, start + len(scores)))
            yield self._as_scored(data, inputs, scores, None)
            start += len(scores)

    def _read(self, data: Graph, whole: bool = False) -> tuple[Data, Inputs]:
        """The complete graph, which need not be the one it was trained on, and what the model takes of it."""
        self._fitted()
        graph = data if isinstance(data, PreparedGraph) else PreparedGraph(complete(data))
        scaled = self._scaled(graph.data)
        graph = graph if scaled is graph.data else graph.with_split(scaled)
        known = graph.as_trained(self.classes_.astype(str).tolist(), *self._remembered(graph.data))
        is_batched = getattr(self.config_, "batch", None) is not None
        config = self.config_.model_copy(update={"batch": None}) if whole and is_batched else self.config_
        return graph.data, self.definition.prepare(known, config)

    def _remembered(self, data: Data) -> tuple[list[str] | None, dict[str, int] | None]:
        """Nodes that are known again by their ids. Without tables these are numbers, which any graph has."""
        if self.linked_ is None and self.known_ is None:
            return None, None
        is_numbered = list(data.node_ids) == [str(i) for i in range(len(data.node_ids))]
        if data.get("encoding") is None and is_numbered and data.num_nodes != self.num_nodes_:
            if self.linked_ is not None:
                raise InputError(
                    f"the model recognises nodes by their links to the {self.num_nodes_} nodes it was trained on, and"
                    " this is another graph"
                )
            return None, {}
        return self.linked_, self.known_

    def _scaled(self, data: Data) -> Data:
        """The graph with its numbers as those that the model was trained on."""
        check_features(self.feature_names_in_, data)
        return data if self.encoding_ is None else with_encoding(data, self.encoding_)

    def _score(self, data: Data, inputs: Inputs) -> Scored:
        model = self.definition
        what = f"predicting {several(int(data.num_nodes or 0), 'node')} with {model.title}"
        check_memory(model.memory(data, self.config_, copies=1), what, "predict fewer nodes at once")
        return self._as_scored(data, inputs, *model.scores(self._fitted(), inputs))

    def _as_scored(self, data: Data, inputs: Inputs, scores: Tensor, routing: Routing | None) -> Scored:
        model, scores = self.definition, scores.cpu()
        if not torch.isfinite(scores).all():
            raise InputError(
                f"{model.title} gives scores that are not finite: its weights, its settings or the features of this"
                " graph are too large"
            )
        names = self.classes_.astype(str).tolist()
        if scores.shape[1] != len(names):
            raise InputError(f"{model.title} gives {scores.shape[1]} scores per node for {len(names)} classes")
        shares = model.probabilities(scores)
        parts = scores, shares, routing, names, self.calibration_, self.linked_
        return Scored(model.title, self.model_, data, inputs, *parts)

    def decision_function(self, data: Graph) -> np.ndarray:
        """Class scores of each node [N, C]; of NCGNN the lengths of its class capsules, between 0 and 1."""
        scores: np.ndarray = self.scored(data).scores.numpy()
        return scores

    def predict_proba(self, data: Graph) -> np.ndarray:
        """Probability of each class [N, C]. Without ``calibration_`` these are the scores as shares of one, which rank
        well, but are not calibrated."""
        probabilities: np.ndarray = self.scored(data).probabilities.numpy()
        return probabilities

    def predict_set(self, data: Graph, coverage: float = 0.9, by_class: bool = False) -> np.ndarray:
        """Which classes each node may belong to [N, C]: the right one is among them for a share ``coverage`` of new
        nodes, or with ``by_class`` of the new nodes of every class. A set may be empty, where not even the best class
        is likely enough."""
        return self.scored(data).class_sets(coverage, by_class)

    def check_coverage(self, coverage: float, by_class: bool = False) -> None:
        """Whether :meth:`predict_set` can give sets with this coverage."""
        if self.calibration_ is None:
            raise InputError(NOT_CALIBRATED, "calibrate")
        sets = self.calibration_.sets_by_class if by_class else self.calibration_.sets
        sets(np.empty((0, len(self.classes_)), np.float32), coverage)

    def predict(self, data: Graph) -> np.ndarray:
        """Class of every node: its name, or its number in a graph whose classes have no names."""
        predicted = self.scored(data).predicted
        chosen: np.ndarray = self.classes_[predicted]
        return chosen

    def score(self, data: Graph, mask: Tensor | None = None) -> float:
        """Accuracy on the labelled nodes in ``mask``, by default ``data.test_mask``."""
        scored = self.scored(data)
        data, names = scored.data, np.array(scored.classes)
        nodes = members(data, "test_mask" if mask is None else "mask", data.get("test_mask") if mask is None else mask)
        return float((names[scored.predicted[nodes]] == np.array(data.class_names)[data.y.numpy()[nodes]]).mean())

    def explain(
        self,
        data: Graph,
        nodes: Sequence[object] | Tensor | None = None,
        against: str | None = None,
        features: bool = False,
        top: int | None = 16,
        target: str | None = None,
    ) -> list[NodeExplanation] | Iterator[NodeExplanation]:
        """Why nodes are predicted as they are: a list for the ids in ``nodes``, an iterator for all nodes.

        :meth:`ncgnn.GraphExplainer.explain` says what the arguments mean; it also explains the same graph more than
        once without a forward pass for each. Only NCGNN can be explained.
        """
        explanations = self.explainer(data).explain(nodes, against, features, top, target)
        return explanations if nodes is None else list(explanations)

    def explainer(self, data: Graph) -> GraphExplainer | PartsExplainer:
        """What explains the nodes of a graph: part by part for a model that was trained in batches."""
        found, inputs = self._read(data)
        if not isinstance(inputs, Batches):
            return GraphExplainer(self._score(found, inputs))
        module = cast(NCGNN, self._fitted())
        whole = lambda: GraphExplainer(self.scored(data, whole=True))  # noqa: E731
        return PartsExplainer(found, inputs, module, self._as_scored, whole)

    def __getstate__(self) -> dict[str, Any]:
        """With the place of the model's class, for processes that have not registered it."""
        return {**super().__getstate__(), "_reference": reference(self.definition.name)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        resolve(state.pop("_reference"))
        super().__setstate__(state)

    def _fitted(self) -> nn.Module:
        if not hasattr(self, "model_"):
            raise NotFittedError("this classifier has not been trained: call fit(data) or load(path) first")
        return self.model_

    def save(self, path: str | Path) -> None:
        """Write one safetensors file that holds the weights, the settings and all names."""
        state = self._fitted().state_dict()
        header = Header(
            model=self.definition.name,
            config=self.config_.model_dump(mode="json"),
            class_names=self.classes_.astype(str).tolist(),
            feature_names=self.feature_names_in_.tolist(),
            encoding=None if self.encoding_ is None else self.encoding_.to_json(),
            calibration=self.calibration_,
            nodes=self.num_nodes_,
            linked=self.linked_,
            known=self.known_,
        )
        write_model(path, state, header)

    @classmethod
    def load(cls, path: str | Path) -> "NodeClassifier":
        """A classifier from a file that :meth:`save` wrote, or from a run folder; its scores are bitwise the same.

        Loading runs no code of the file. A model of one's own has to be registered first.
        """
        path = Path(path) / "model.safetensors" if Path(path).is_dir() else path
        state, header = read_model(path)
        self = cls._of_model(path, header.model)
        try:
            encoding = None if header.encoding is None else Encoding.from_json(header.encoding)
        except InputError as error:
            raise InputError(f"{path}: damaged model file: {error}") from None
        self.config_ = self.definition.settings_class.make(header.config, where=str(path))
        self._store_settings(self.config_)
        self.calibration_, self.num_nodes_ = header.calibration, header.nodes
        if max((header.known or {}).values(), default=0) >= len(header.class_names):
            raise InputError(f"{path}: damaged model file: it knows nodes of a class that it does not have")
        self.linked_, self.known_ = header.linked, header.known
        self._describe(header.class_names, header.feature_names, encoding)
        sizes = Sizes(len(header.feature_names), len(header.class_names), header.nodes)
        try:
            with torch.random.fork_rng(devices=[]):  # weights that are drawn only to be overwritten
                self.model_ = self.definition.restore(state, sizes, self.config_).eval()
        except ValueError as error:
            raise InputError(f"{path}: damaged model file: {error}") from None
        return self

    @classmethod
    def _of_model(cls, path: str | Path, name: str) -> "NodeClassifier":
        if name not in model_names():
            raise InputError(f"{path}: unknown model {name!r}: register it first", "model_class")
        return cls(name)

    def _store_settings(self, settings: RunSettings) -> None:
        self.settings = settings


def check_trained_here(classifier: NodeClassifier) -> None:
    """Whether the classifier knows how its training went, which a file does not."""
    if not hasattr(classifier, "history_"):
        raise InputError("the model was loaded from a file, which has no training history: train it in this process")
