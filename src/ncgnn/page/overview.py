"""The page's first view: how good the model is as a whole, and all nodes at once."""

from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import confusion_matrix

from ncgnn.calibration.error import expected_error, reliability
from ncgnn.explain import GraphExplainer
from ncgnn.page.choice import LISTED, Choice
from ncgnn.page.predictions import Predictions
from ncgnn.page.view import rounded

ASKED = 50
"""Nodes that were asked for, in a list of them."""

CALIBRATED = "Probabilities are calibrated on held-out nodes."
NOT_CALIBRATED = "Probabilities are uncalibrated: each is a class's share of the total length of all class capsules."

JUDGED = {
    "test": "test nodes",
    "validation": "validation nodes, which chose the weights",
    "labelled": "labelled nodes (which were for training is not known)",
}


class Measured(NamedTuple):
    """The accuracy on test nodes that were used for training after it was measured."""

    accuracy: float
    nodes: int


def overview(
    explainer: GraphExplainer, predictions: Predictions, choice: Choice, measured: Measured | None = None
) -> dict[str, Any]:
    """Everything but the nodes themselves, as plain values; nodes are given by number."""
    data = explainer.scored.data
    trace = explainer.trace
    couplings = trace.routing.couplings[:, : trace.routed[-1].capsules.stop].mean(dim=0)
    return {
        "name": str(data.get("name", "the graph")),
        "size": {
            "nodes": data.num_nodes,
            "edges": int((data.edge_index[0] < data.edge_index[1]).sum()),
            "features": len(explainer.names.features),
        },
        "classes": list(explainer.names.classes),
        "trained": None if predictions.split is None else int((predictions.split == "train").sum()),
        "measured": None if measured is None else measured._asdict(),
        "quality": _quality(predictions, len(explainer.names.classes)),
        "groups": _groups(explainer, predictions, choice),
        "capsules": explainer.capsule_names,
        "hops": hop_weights(explainer),
        "couplings": [[rounded(c) for c in row] for row in couplings.tolist()],
        "routing": str(explainer.selection),
        "choice": choice.reason,
        "asked": choice.explained.tolist()[:ASKED] if choice.is_asked else [],
        "probabilities": CALIBRATED if explainer.scored.calibration else NOT_CALIBRATED,
        "calibrated": explainer.scored.calibration is not None,
        "audit": audited(explainer),
        "unlabelled": predictions.unlabelled[:LISTED].tolist(),
        "left": len(predictions.unlabelled),
        "doubtful": predictions.doubtful(LISTED).tolist(),
        "surprising": predictions.surprising(LISTED).tolist(),
    }


def audited(explainer: GraphExplainer) -> str:
    """How far the reasons can be trusted, in a line."""
    from ncgnn.explain.quality.passing import audit_of  # with PyG's explainers, which take long to import

    return audit_of(explainer).short


def _quality(predictions: Predictions, classes: int) -> dict[str, Any] | None:
    """``None`` where no label is known to compare with."""
    judged = predictions.judged
    if not len(judged.nodes):
        return None
    label, predicted = predictions.label[judged.nodes], predictions.predicted[judged.nodes]
    bins = reliability(predictions.probability[judged.nodes, 0], label == predicted)
    return {
        "judged": len(judged.nodes),
        "nodes": JUDGED[judged.kind],
        "accuracy": float((label == predicted).mean()),
        "confusion": confusion_matrix(label, predicted, labels=range(classes)).tolist(),
        "bins": [{key: rounded(value) for key, value in asdict(bin).items()} for bin in bins],
        "error": rounded(expected_error(bins)),
    }


def _groups(explainer: GraphExplainer, predictions: Predictions, choice: Choice) -> list[dict[str, Any]] | None:
    """Each group of capsules: its mean share of what tells the two best classes apart, how many nodes it is the largest
    part of, and the explained nodes that it has the largest share of; ``None`` where there is only one."""
    shares, main = predictions.groups, predictions.main_group
    if shares is None or main is None:
        return None
    unseen = np.intersect1d(choice.explained, predictions.unseen)
    found = []
    for number, group in enumerate(explainer.trace.groups):
        order = np.argsort(-shares[unseen, number], kind="stable")[:LISTED]
        first = [int(node) for node in unseen[order] if main[node] == number]
        about = {"name": group.name, "words": group.words, "share": rounded(shares[:, number].mean())}
        found.append(about | {"main": int((main == number).sum()), "nodes": first})
    return found


def hop_weights(explainer: GraphExplainer) -> list[list[Any]] | None:
    """How much the filter listens to each hop, with the name of the group where there are several; ``None`` where a
    filter is no finite sum over hops."""
    groups = explainer.trace.groups
    found: list[list[Any]] = []
    for group in groups:
        weights, filter = group.module.filter.hop_weights(), group.module.filter
        if weights is None:
            return None
        name = "" if len(groups) == 1 else f"{group.name}, hop "
        found += [[f"{name}{hop}", rounded(weight)] for hop, weight in zip(filter.hops, weights.tolist(), strict=True)]
    return found
