"""Gradient boosting on the features alone."""

import warnings
from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.preprocessing import normalize
from torch_geometric.data import Data

from ncgnn.data.graph import feature_matrix

MOST_FEATURES = 100
"""Trees look at one feature at a time: of more, as of words, they are given a choice or a summary."""

_DIRECTIONS, _TREES, _LEAF = 32, 100, 5  # scikit-learn's 20 nodes a leaf would leave 140 training nodes undivided


def boost(data: Data, seed: int = 0) -> np.ndarray:
    """The class of each node [N]: of the ways to reduce the features and the numbers of trees, by those that do best on
    the validation nodes."""
    y, train, val = data.y.numpy(), data.train_mask.numpy(), data.val_mask.numpy()
    tried = [_boost(x, y, train, val, seed) for x in reductions(feature_matrix(data.x), y, train, seed)]
    return max(tried, key=lambda one: one[0])[1]


def _boost(x: np.ndarray, y: np.ndarray, train: np.ndarray, val: np.ndarray, seed: int) -> tuple[float, np.ndarray]:
    """The accuracy on validation nodes of the best number of trees, and what these predict."""
    model = HistGradientBoostingClassifier(
        max_iter=_TREES, min_samples_leaf=_LEAF, early_stopping=False, random_state=seed
    ).fit(x[train], y[train])
    right = [float(np.mean(predicted == y[val])) for predicted in model.staged_predict(x[val])]
    predictions = enumerate(model.staged_predict(x))
    return max(right), next(predicted for trees, predicted in predictions if trees == np.argmax(right))


def reductions(x: sp.csr_array, y: np.ndarray, train: np.ndarray, seed: int) -> Iterator[np.ndarray]:
    """Dense features: all, or, where there are many, those that tell the training classes apart best (by their F
    values), and the strongest directions of all nodes' features, which know no label."""
    if x.shape[1] <= MOST_FEATURES:
        yield x.toarray()
        return
    yield _most_telling(x, y, train)
    yield TruncatedSVD(min(_DIRECTIONS, x.shape[0] - 1), random_state=seed).fit_transform(normalize(x))


def _most_telling(x: sp.csr_array, y: np.ndarray, train: np.ndarray) -> np.ndarray:
    with warnings.catch_warnings(), np.errstate(all="ignore"):  # features that are constant among the training nodes
        warnings.simplefilter("ignore")
        best = SelectKBest(f_classif, k=MOST_FEATURES).fit(x[train], y[train])
    chosen: np.ndarray = best.transform(x).toarray()
    return chosen
