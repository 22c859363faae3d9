"""Check that there are enough labels of every class."""

import numpy as np

from ncgnn.check.view import Finding, View
from ncgnn.text import several

FEW_TO_TRAIN = 5
FEW_TO_VALIDATE = 20
IMBALANCE = 10


def imbalance_findings(view: View) -> list[Finding]:
    names = view.data.class_names
    sizes = np.bincount(view.y[view.y >= 0], minlength=len(names))
    if len(sizes) < 2 or sizes.max() < IMBALANCE * max(sizes.min(), 1):
        return []
    rare = np.flatnonzero(sizes * IMBALANCE <= sizes.max())
    rare = rare[np.argsort(sizes[rare], kind="stable")]
    largest, smallest = sizes.argmax(), rare[0]
    return [
        Finding(
            name="imbalance",
            level="warning",
            what=f"class {names[largest]!r} has {several(int(sizes[largest]), 'labelled node')},"
            f" class {names[smallest]!r} has {sizes[smallest]}",
            count=len(rare),
            first=[names[c] for c in rare],
            why=f"always predicting {names[largest]!r} is correct for {sizes.max() / sizes.sum():.0%} of nodes,"
            " so accuracy says little about the rare classes",
            advice="check the scores per class, and train on equally many nodes per class",
            options=["per_class", "val"],
        )
    ]


def few_label_findings(view: View) -> list[Finding]:
    if not view.is_split:
        return []
    return _few_to_train(view) + _few_to_validate(view)


def refused_split(reason: str) -> Finding:
    """The finding for labels that cannot be split."""
    return Finding(
        name="few labels",
        level="serious",
        what=reason,
        count=0,
        first=[],
        why="training needs training nodes of at least two classes, and validation nodes",
        advice="label more nodes",
    )


def _few_to_train(view: View) -> list[Finding]:
    names = view.data.class_names
    sizes = np.bincount(view.y[view.members("train")], minlength=len(names))
    few = np.flatnonzero(sizes < FEW_TO_TRAIN)
    if not len(few):
        return []
    few = few[np.argsort(sizes[few], kind="stable")]
    return [
        Finding(
            name="few labels",
            level="warning",
            what=f"{several(len(few), 'class')} of {len(names)} with fewer than {FEW_TO_TRAIN} training nodes:"
            f" {names[few[0]]!r} has {sizes[few[0]]}",
            count=len(few),
            first=[names[c] for c in few],
            why="too few examples to learn the class reliably",
            advice="label more nodes of these classes, or merge them with others",
        )
    ]


def _few_to_validate(view: View) -> list[Finding]:
    count = int(view.members("val").sum())
    if count >= FEW_TO_VALIDATE:
        return []
    return [
        Finding(
            name="few validation nodes",
            level="warning",
            what=f"{several(count, 'validation node')}",
            count=count,
            first=view.ids(np.flatnonzero(view.members("val"))),
            why="too few to select the best epoch reliably, or to calibrate probabilities",
            advice="label more nodes, or use a larger validation fraction",
            options=["fractions"],
        )
    ]
