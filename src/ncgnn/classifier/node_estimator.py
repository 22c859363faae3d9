"""A classifier of one graph's nodes that scikit-learn's tools can divide, fit and score."""

from copy import copy
from math import ceil
from typing import Any, Self

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted
from torch_geometric.data import Data

from ncgnn.classifier.estimator import NodeClassifier
from ncgnn.data import complete
from ncgnn.errors import InputError


class NodeEstimator(ClassifierMixin, BaseEstimator):
    """Takes node numbers in place of rows of features: for ``cross_val_score``, ``GridSearchCV`` and their like.

    Every fold sees the whole graph, all nodes' features and all edges, and the labels of its own nodes alone; those in
    ``data.y`` are not looked at. This is how the method is meant to be used. It says nothing about nodes that are not
    in the graph yet.

    Args:
        classifier: its settings are those of ``classifier__NAME`` in a search.
        data: the graph.
        val: share of the nodes given to :meth:`fit` that decides when to stop.

    Example:
        >>> import ncgnn
        >>> from sklearn.model_selection import cross_val_score
        >>> data = ncgnn.load_dataset("karate")
        >>> estimator = ncgnn.NodeEstimator(ncgnn.NCGNNClassifier(hops=2, epochs=20), data)
        >>> cross_val_score(estimator, range(34), data.y.numpy(), cv=2).shape
        (2,)
    """

    def __init__(self, classifier: NodeClassifier, data: Data, val: float = 0.2) -> None:
        self.classifier = classifier
        self.data = data
        self.val = val

    def __sklearn_clone__(self) -> Self:
        """One graph for all folds: a copy for each would take memory for nothing."""
        return type(self)(clone(self.classifier), self.data, self.val)

    def fit(self, nodes: Any, y: Any) -> Self:
        """Train on these nodes, whose classes are ``y``."""
        nodes, y = self._numbers(nodes), np.asarray(y)
        _check_labels(nodes, y)
        self.classes_, labels = np.unique(y, return_inverse=True)
        self.graph_ = self._labelled(nodes, labels)
        self.classifier_ = clone(self.classifier).fit(self.graph_)
        return self

    def predict(self, nodes: Any) -> np.ndarray:
        """Classes of these nodes, as ``fit`` was given them."""
        best = self.predict_proba(nodes).argmax(axis=1)
        chosen: np.ndarray = self.classes_[best]
        return chosen

    def predict_proba(self, nodes: Any) -> np.ndarray:
        """Probabilities of the classes ``classes_`` for these nodes."""
        check_is_fitted(self, "classifier_")
        probabilities: np.ndarray = self.classifier_.predict_proba(self.graph_)[self._numbers(nodes)]
        return probabilities

    def _numbers(self, nodes: Any) -> np.ndarray:
        numbers = np.asarray(nodes).reshape(-1)
        total = int(self.data.num_nodes or 0)
        if not np.issubdtype(numbers.dtype, np.integer) or (
            len(numbers) and not -1 < numbers.min() <= numbers.max() < total
        ):
            raise InputError(f"nodes are given by their numbers, from 0 to {total - 1}")
        return numbers

    def _labelled(self, nodes: np.ndarray, labels: np.ndarray) -> Data:
        """The graph with no other labels than these, divided into those that train and those that validate."""
        out = copy(complete(self.data))
        out.class_names = self.classes_.astype(str).tolist()
        out.y = torch.full((len(out.y),), -1)
        out.y[torch.from_numpy(nodes)] = torch.from_numpy(labels)
        if "calibration_mask" in out:
            del out["calibration_mask"]  # its nodes may be among those that train
        train, val = _divide(nodes, labels, self.val)
        for key, members in (("train_mask", train), ("val_mask", val), ("test_mask", [])):
            out[key] = torch.zeros(len(out.y), dtype=torch.bool)
            out[key][torch.as_tensor(members, dtype=torch.int64)] = True
        return out


def _check_labels(nodes: np.ndarray, y: np.ndarray) -> None:
    if y.shape != nodes.shape:
        raise InputError(f"{len(nodes)} nodes, but y has shape {y.shape}: y must have one class per node")
    numbers, counts = np.unique(nodes, return_counts=True)
    if (counts > 1).any():
        raise InputError(f"node {numbers[counts.argmax()]} occurs more than once: sample nodes without replacement")
    if -1 in y.tolist():
        raise InputError("y contains -1, which means unlabelled: leave these nodes out")


def _divide(nodes: np.ndarray, labels: np.ndarray, share: float) -> Any:
    """Nodes that train, and a share of them that validate."""
    from sklearn.model_selection import train_test_split  # which brings half of scikit-learn

    if not 0 < share < 1:
        raise InputError(f"val must be a fraction of the nodes, above 0 and below 1, not {share}")
    count = ceil(share * len(nodes))
    if not 0 < count < len(nodes):
        raise InputError(f"val={share} of {len(nodes)} nodes leaves none to train on: use more nodes")
    return train_test_split(nodes, test_size=count, random_state=0, stratify=_if_possible(labels, count))


def _if_possible(labels: np.ndarray, count: int) -> np.ndarray | None:
    """Classes are kept in proportion unless one has a single node, or there are more classes than nodes in a part."""
    sizes = np.bincount(labels)
    return labels if sizes.min() > 1 and min(count, len(labels) - count) >= len(sizes) else None
