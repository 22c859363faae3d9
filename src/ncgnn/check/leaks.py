"""Find features that leak the label."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ncgnn.check.view import Finding, View

SAMPLE = 5000  # maximum number of labelled nodes to use; far fewer are enough to see a leak
SMALLEST_CLASS = 10  # the nodes of a small class can be adjacent by chance
GIVEN_AWAY = 0.95
_COLUMNS = 256
_SEED = 7_201_943  # with a small seed, a generated graph may have been shuffled in the same order


@dataclass(frozen=True)
class Leak:
    """How well a feature alone predicts a class: 1 for always, 0 for no better than chance."""

    feature: int
    label: int
    strength: float


def find_leaks(x: sp.csr_array, y: np.ndarray) -> list[Leak]:
    """Features that predict a class, strongest first; one entry per pair of feature and class.

    Nodes are sorted by the feature. If it leaks a class, the nodes of the class are adjacent, whether the feature is a
    flag, a number that is high or low for the class, or a code.
    """
    # shuffled, so that nodes with equal values are in random order
    known = np.random.default_rng(_SEED).permutation(np.flatnonzero(y >= 0))[:SAMPLE]
    if not len(known):
        return []
    sample, labels = sp.csc_array(x[known]), y[known]
    blocks = range(0, x.shape[1], _COLUMNS)
    strengths = np.concatenate([_strengths(sample[:, start : start + _COLUMNS], labels) for start in blocks])
    found = [Leak(int(f), int(c), float(strengths[f, c])) for f, c in np.argwhere(strengths >= GIVEN_AWAY)]
    return sorted(found, key=lambda leak: -leak.strength)


def _strengths(columns: sp.csc_array, labels: np.ndarray) -> np.ndarray:
    """Fraction of nodes followed by another of the same class, corrected for chance, per feature and class [f, C]."""
    sizes = np.bincount(labels)
    ordered = labels[np.argsort(columns.toarray(), axis=0, kind="stable")]
    same = ordered[1:] == ordered[:-1]
    out = np.zeros((columns.shape[1], len(sizes)))
    for label in np.flatnonzero((sizes >= SMALLEST_CLASS) & (sizes < len(labels))):
        together = (same & (ordered[1:] == label)).sum(axis=0) / (sizes[label] - 1)
        chance = sizes[label] / len(labels)
        out[:, label] = (together - chance) / (1 - chance)
    return out


def leak_findings(view: View) -> list[Finding]:
    found = find_leaks(view.x, view.y)
    if not found:
        return []
    features = list(dict.fromkeys(leak.feature for leak in found))
    first = found[0]
    names, classes = view.data.feature_names, view.data.class_names
    count = len(features)
    alone = (
        "1 feature predicts a class on its own:"
        if count == 1
        else f"{count} features each predict a class on their own, e.g."
    )
    return [
        Finding(
            name="leak",
            level="serious",
            what=f"{alone} {names[first.feature]!r} predicts {classes[first.label]!r}",
            count=count,
            first=[names[feature] for feature in features],
            why="a feature derived from the label will not be available for new nodes, so test accuracy will be"
            " overestimated",
            advice="find out when this column is filled in; if only after the label is known, drop it",
            options=["ignore"],
        )
    ]
