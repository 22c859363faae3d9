"""The model with scikit-learn's manners: fit, predict, save, load."""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from torch import Tensor
from torch_geometric.data import Data

from ncgnn.calibration import Calibration
from ncgnn.classifier.model_file import Header, load_weights, read_model, write_model
from ncgnn.data import Encoding, complete, standardise, with_encoding
from ncgnn.errors import InputError
from ncgnn.models.base.features import prepare_features
from ncgnn.models.base.filter_cache import filter_folder, prepare_filter
from ncgnn.models.ncgnn.config import Config
from ncgnn.nn import NCGNN, GraphFilter, PreparedFilter, Routing, proportions
from ncgnn.train.epoch import Epoch
from ncgnn.train.run import fit

if TYPE_CHECKING:
    from ncgnn.explain import NodeExplanation


class NCGNNClassifier(ClassifierMixin, BaseEstimator):
    """Classifies the nodes of a graph, and of other graphs with the same features.

    The constructor's arguments are the fields of :class:`~ncgnn.Config`, which says what each means; it only stores
    them. What is learned ends in an underscore.

    Attributes:
        model_: the trained :class:`~ncgnn.NCGNN`.
        config_: the :class:`~ncgnn.Config` it was trained with.
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
        >>> clf = ncgnn.NCGNNClassifier(hops=2, epochs=20).fit(data)
        >>> clf.predict(data).shape
        (34,)
    """

    def __init__(
        self,
        filter: Literal["attention", "diffusion"] = "attention",
        hops: int | Sequence[int] = (0, 1, 2, 3),
        zeta_prior: Sequence[float] | None = None,
        diffusion: Literal["ppr", "heat"] = "ppr",
        alpha: float = 0.1,
        time: float = 5.0,
        steps: int | None = None,
        top_k: int | None = None,
        epsilon: float | None = None,
        tolerance: float = 1e-6,
        num_capsules: int = 4,
        primary_channels: int = 32,
        class_channels: int = 16,
        iterations: int = 3,
        beta: float = 2.8,
        dropout: float = 0.8,
        hidden: Sequence[tuple[int, int]] = (),
        init: Literal["uniform", "glorot"] = "glorot",
        m_plus: float = 0.9,
        m_minus: float = 0.2,
        lam: float = 0.5,
        lr: float = 5.6e-3,
        zeta_lr: float = 0.1,
        weight_decay: float = 8.8e-3,
        epochs: int = 500,
        patience: int = 100,
        normalize_features: bool = False,
        seed: int = 0,
    ) -> None:
        self.filter = filter
        self.hops = hops
        self.zeta_prior = zeta_prior
        self.diffusion = diffusion
        self.alpha = alpha
        self.time = time
        self.steps = steps
        self.top_k = top_k
        self.epsilon = epsilon
        self.tolerance = tolerance
        self.num_capsules = num_capsules
        self.primary_channels = primary_channels
        self.class_channels = class_channels
        self.iterations = iterations
        self.beta = beta
        self.dropout = dropout
        self.hidden = hidden
        self.init = init
        self.m_plus = m_plus
        self.m_minus = m_minus
        self.lam = lam
        self.lr = lr
        self.zeta_lr = zeta_lr
        self.weight_decay = weight_decay
        self.epochs = epochs
        self.patience = patience
        self.normalize_features = normalize_features
        self.seed = seed

    @classmethod
    def from_config(cls, config: Config) -> Self:
        """A classifier with the settings of a configuration."""
        return cls(**config.model_dump())

    @property
    def config(self) -> Config:
        """The constructor's arguments, checked."""
        values = self.get_params()
        lists = {key: list(v) for key, v in values.items() if isinstance(v, Sequence) and not isinstance(v, str)}
        return Config.make(values | lists, where=type(self).__name__)

    def fit(self, data: Data, on_epoch: Callable[[Epoch], None] = lambda epoch: None) -> Self:
        """Train on ``data.train_mask``; ``data.val_mask`` decides when to stop and which weights to keep.

        Args:
            data: a graph with ``x``, ``edge_index``, ``y`` (-1 where unlabelled) and one split as masks; draw one
                with :func:`~ncgnn.split_per_class`, :func:`~ncgnn.split_fractions` or
                :func:`~ncgnn.published_split`. With :func:`~ncgnn.set_aside` it has nodes to calibrate on.
            on_epoch: called after each epoch.
        """
        config, start = self.config, perf_counter()
        data = complete(data)
        _check_split(data)
        data = standardise(data)
        x = prepare_features(data.x, config.normalize_features)
        prepared = _prepare_filter(config.make_filter(), data, x)
        result = fit(data, x, prepared, config, on_epoch)
        self.calibration_ = _calibrate(result.model, data, x, prepared)
        self.config_, self.model_ = config, result.model
        self.best_, self.history_ = result.best, result.history
        self.seconds_ = perf_counter() - start
        self._describe(data.class_names, data.feature_names, data.get("encoding"))
        return self

    def _describe(self, classes: Sequence[str], features: Sequence[str], encoding: Encoding | None) -> None:
        numbered = list(classes) == [str(i) for i in range(len(classes))]
        self.classes_ = np.arange(len(classes)) if numbered else np.array(classes, dtype=str)
        self.feature_names_in_ = np.array(features, dtype=object)
        self.n_features_in_ = len(features)
        self.encoding_ = encoding

    @torch.no_grad()
    def decision_function(self, data: Data) -> np.ndarray:
        """Length of each node's class capsules [N, C], between 0 and 1: how much speaks for each class."""
        return self._forward(data)[0].cpu().numpy()

    @torch.no_grad()
    def transform(self, data: Data) -> np.ndarray:
        """Each node's class capsules [N, C, f_c]."""
        return self._forward(data)[1].capsules.cpu().numpy()

    def predict_proba(self, data: Data) -> np.ndarray:
        """Probability of each class [N, C]. Without ``calibration_`` these are capsule lengths divided by their sum,
        which rank well, but are not calibrated."""
        return self.probabilities(self.decision_function(data))

    def predict_set(self, data: Data, coverage: float = 0.9) -> np.ndarray:
        """Which classes each node may belong to [N, C]: the right one is among them for a share ``coverage`` of new
        nodes. A set may be empty, where not even the best class is likely enough."""
        return self.class_sets(self.decision_function(data), coverage)

    def probabilities(self, lengths: np.ndarray) -> np.ndarray:
        """As :meth:`predict_proba`, from the lengths that :meth:`decision_function` gives."""
        shares, calibration = _shares(lengths), self.calibration_
        return shares if calibration is None else calibration.probabilities(shares)

    def class_sets(self, lengths: np.ndarray, coverage: float) -> np.ndarray:
        """As :meth:`predict_set`, from the lengths that :meth:`decision_function` gives."""
        if self.calibration_ is None:
            raise InputError("the model has no calibration: train with nodes set aside for it", "calibrate")
        return self.calibration_.sets(_shares(lengths), coverage)

    def predict(self, data: Data) -> np.ndarray:
        """Class of every node: its name, or its number in a graph whose classes have no names."""
        best = self.decision_function(data).argmax(axis=1)
        chosen: np.ndarray = self.classes_[best]
        return chosen

    def score(self, data: Data, mask: Tensor | None = None) -> float:
        """Accuracy on the labelled nodes in ``mask``, by default ``data.test_mask``."""
        predicted, data = self.predict(data), complete(data)
        nodes = _members(data, "test_mask" if mask is None else "mask", data.get("test_mask") if mask is None else mask)
        return float((predicted[nodes].astype(str) == np.array(data.class_names)[data.y.numpy()[nodes]]).mean())

    def explain(
        self,
        data: Data,
        nodes: Sequence[object] | Tensor | None = None,
        against: str | None = None,
        features: bool = False,
        top: int | None = 16,
        target: str | None = None,
    ) -> "list[NodeExplanation] | Iterator[NodeExplanation]":
        """Why nodes are predicted as they are: a list for the ids in ``nodes``, an iterator for all nodes.

        :meth:`ncgnn.GraphExplainer.explain` says what the arguments mean; it also explains the same graph more than
        once without a forward pass for each.
        """
        from ncgnn.explain import GraphExplainer

        explanations = GraphExplainer(self, data).explain(nodes, against, features, top, target)
        return explanations if nodes is None else list(explanations)

    def prepare(self, data: Data) -> tuple[Tensor, PreparedFilter]:
        """The features and the filter of a graph as the model takes them."""
        model = self._fitted()
        data = complete(data)
        self._check_features(data)
        if self.encoding_ is not None:
            data = with_encoding(data, self.encoding_)
        x = prepare_features(data.x, self.config_.normalize_features)
        # prepared anew for the graph at hand, which need not be the one it was trained on
        return x, _prepare_filter(model.filter, data, x)

    def _forward(self, data: Data) -> tuple[Tensor, Routing]:
        out: tuple[Tensor, Routing] = self._fitted()(*self.prepare(data), return_routing=True)
        return out

    def _fitted(self) -> NCGNN:
        if not hasattr(self, "model_"):
            raise NotFittedError("this classifier has not been trained: call fit(data) or load(path) first")
        return self.model_

    def _check_features(self, data: Data) -> None:
        if data.x.shape[1] != self.n_features_in_:
            raise InputError(f"the model expects {self.n_features_in_} features, the graph has {data.x.shape[1]}")
        different = np.flatnonzero(self.feature_names_in_ != np.array(data.feature_names, dtype=object))
        if different.size:
            i = different[0]
            raise InputError(
                f"the graph has other features than the model: {different.size} differ, the first is feature {i}, "
                f"{data.feature_names[i]!r} in the graph and {self.feature_names_in_[i]!r} in the model"
            )

    def save(self, path: str | Path) -> None:
        """Write one safetensors file that holds the weights, the configuration and all names."""
        model = self._fitted()
        header = Header(
            config=self.config_.model_dump(mode="json"),
            class_names=self.classes_.astype(str).tolist(),
            feature_names=self.feature_names_in_.tolist(),
            encoding=None if self.encoding_ is None else self.encoding_.to_json(),
            calibration=self.calibration_,
        )
        write_model(path, model.state_dict(), header)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """A classifier from a file that :meth:`save` wrote; its scores are bitwise those of the saved one."""
        state, header = read_model(path)
        try:
            encoding = None if header.encoding is None else Encoding.from_json(header.encoding)
        except InputError as error:
            raise InputError(f"{path}: damaged model file: {error}") from None
        config = Config.make(header.config, where=str(path))
        self = cls.from_config(config)
        self.config_, self.calibration_ = config, header.calibration
        with torch.random.fork_rng(devices=[]):  # weights that are drawn only to be overwritten
            self.model_ = config.make_model(len(header.feature_names), len(header.class_names)).eval()
        load_weights(path, self.model_, state)
        self._describe(header.class_names, header.feature_names, encoding)
        return self


def check_trained_here(classifier: NCGNNClassifier) -> None:
    """Whether the classifier knows how its training went, which a file does not."""
    if not hasattr(classifier, "history_"):
        raise InputError("the model is from a file, which does not tell how its training went: train it here")


def _shares(lengths: np.ndarray) -> np.ndarray:
    return proportions(torch.from_numpy(lengths)).numpy()


@torch.no_grad()
def _calibrate(model: NCGNN, data: Data, x: Tensor, prepared: PreparedFilter) -> Calibration | None:
    if data.get("calibration_mask") is None:
        return None
    lengths = model.eval()(x, prepared).cpu().numpy()
    aside = data.calibration_mask.cpu().numpy()
    return Calibration.fit(_shares(lengths[aside]), data.y.cpu().numpy()[aside])


def _prepare_filter(filter: GraphFilter, data: Data, x: Tensor) -> PreparedFilter:
    try:
        return prepare_filter(filter, data, x.dtype, filter_folder())
    except ValueError as error:
        raise InputError(f"the filter does not suit this graph: {error}") from None


def _members(data: Data, key: str, mask: Any, may_be_empty: bool = False) -> np.ndarray:
    """The mask, once it is sure to be one over the nodes of which some are in it, all of them labelled."""
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool or mask.shape != (data.num_nodes,):
        raise InputError(f"{key} must be one mask over the nodes: draw a split, or choose one with published_split")
    if not mask.any() and not may_be_empty:
        raise InputError(f"{key} is empty: there is nothing to train, validate or test on")
    if (data.y[mask] < 0).any():
        raise InputError(f"{key} contains nodes without a label")
    return mask.cpu().numpy()


def _check_split(data: Data) -> None:
    """Whether there are nodes to train and to validate, all of them labelled, and none has two parts."""
    given = [key for key in ("calibration_mask", "test_mask") if data.get(key) is not None]
    keys = ["train_mask", "val_mask", *given]
    parts = {key: _members(data, key, data.get(key), may_be_empty=key == "test_mask") for key in keys}
    for (key, mask), (other, nodes) in combinations(parts.items(), 2):
        if (mask & nodes).any():
            raise InputError(f"{key} and {other} share nodes: a node has one part, or its result would mislead")
    if len(data.y[data.train_mask].unique()) < 2:
        raise InputError("the training nodes belong to fewer than two classes: there is nothing to learn")
