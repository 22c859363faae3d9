"""A node's view in plain sentences."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from ncgnn.explain.groups import reason
from ncgnn.explain.parts import GroupPart, called


def in_words(view: dict[str, Any]) -> str:
    """What is predicted, which parts of each kind are the largest, and which training labels are among them."""
    why = reason([GroupPart(*part) for part in view.get("groups") or ()], view["score"])
    mainly = "" if why is None else f" This is {why}."
    parts = "; ".join(_largest_parts(view))
    largest = f" Largest contributions: {parts}." if parts else ""
    bias = f" The class bias contributes {percent(view['bias'], view)}."
    return f"{_prediction(view)}{mainly}{largest}{bias}{_labels(view)}"


def _prediction(view: dict[str, Any]) -> str:
    said = (
        f"Node {called(view['id'], view['title'])} is predicted {view['predicted']} with probability "
        f"{view['probability']:.2f}, ahead of {view['second']} with {view['second_probability']:.2f}."
    )
    is_wrong = view["label"] is not None and view["label"] != view["predicted"]
    return f"{said} Its label is {view['label']}." if is_wrong else said


def _largest_parts(view: dict[str, Any]) -> Iterator[str]:
    if view["hops"]:
        hop, value = max(view["hops"], key=lambda part: part[1])
        way = "without a hop" if hop == "0" else f"via {hop} {'hop' if hop == '1' else 'hops'}"
        yield f"by hop, {percent(value, view)} {way}"
    if view["neighbours"]:
        yield _strongest(max(view["neighbours"], key=lambda other: other["value"]), view)
    if view["features"]["largest"]:
        feature, value = max(view["features"]["largest"], key=lambda part: part[1])
        yield f"by feature, {percent(value, view)} from “{feature}”"


def _strongest(other: dict[str, Any], view: dict[str, Any]) -> str:
    share = percent(other["value"], view)
    if other["id"] == view["id"]:
        return f"by node, {share} from the node itself"
    known = f" (training, {other['label']})" if other["split"] == "train" else ""
    if other.get("believed") is not None:
        known = f" (taken for {other['believed']})"
    return f"by node, {share} from {called(other['id'], other['title'])}{known}"


def _labels(view: dict[str, Any]) -> str:
    shares: dict[str, list[float]] = defaultdict(list)
    for other in view["neighbours"]:
        if other["split"] == "train":
            shares[other["label"]].append(other["value"])
    if not shares:
        return ""
    ranked = sorted(shares.items(), key=lambda item: -abs(sum(item[1])))
    said = ", ".join(f"{len(values)} of class {label} ({percent(sum(values), view)})" for label, values in ranked)
    return f" Training nodes among the top {len(view['neighbours'])} contributors: {said}."


def percent(value: float, view: dict[str, Any]) -> str:
    """A part as its share of the score."""
    share = value / view["score"] if view["score"] else 0.0
    return "under 1 %" if share > 0 and not round(100 * share) else f"{round(100 * share)} %"
