"""Find features that carry no information or dominate the others."""

import numpy as np
from sklearn.utils.sparsefuncs import min_max_axis

from ncgnn.check.view import SHOWN, Finding, View
from ncgnn.text import several

HUGE_BESIDE_OTHERS = 100.0
HUGE = 10_000.0


def constant_findings(view: View) -> list[Finding]:
    low, high = min_max_axis(view.x, axis=0)
    same = np.flatnonzero(low == high)
    if not len(same):
        return []
    return [
        Finding(
            name="constant features",
            level="note",
            what=f"{several(len(same), 'feature')} of {len(low)} with the same value on all nodes",
            count=len(same),
            first=[view.data.feature_names[feature] for feature in same[:SHOWN]],
            why="they carry no information and cost memory and time",
            advice="find out why they are constant, or drop them",
            options=["ignore"],
        )
    ]


def scale_findings(view: View) -> list[Finding]:
    low, high = min_max_axis(view.x, axis=0)
    largest = np.maximum(np.abs(low), np.abs(high)).astype(np.float64)
    usual = float(np.median(largest[largest > 0])) if (largest > 0).any() else 1.0
    huge = np.flatnonzero((largest > HUGE_BESIDE_OTHERS * usual) | (largest > HUGE))
    if not len(huge):
        return []
    huge = huge[np.argsort(-largest[huge], kind="stable")]
    return [
        Finding(
            name="huge features",
            level="warning",
            what=f"{several(len(huge), 'feature')} with values up to {largest[huge[0]]:.3g}; the"
            f" typical maximum is {usual:.3g}",
            count=len(huge),
            first=[view.data.feature_names[feature] for feature in huge[:SHOWN]],
            why="the largest feature dominates all others, and training may diverge",
            advice="divide by the standard deviation, or take the logarithm",
        )
    ]
