"""The page of a model and its graph: all that it shows, collected and written to one file."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from ncgnn.explain import GraphExplainer
from ncgnn.files import atomic
from ncgnn.page.choice import Choice, choose, ranking
from ncgnn.page.overview import Measured, overview
from ncgnn.page.predictions import Predictions
from ncgnn.page.render import render
from ncgnn.page.table import Register, node_places, node_table, shortened
from ncgnn.page.view import NodeViews

Views = Iterable[dict[str, Any]]


def write_page(
    path: str | Path,
    explainer: GraphExplainer,
    nodes: Sequence[object] | None = None,
    track: Callable[[Views, int], Views] = lambda views, total: views,
    measured: Measured | None = None,
) -> None:
    """Write one HTML file that opens offline.

    Args:
        path: where to.
        explainer: the model's predictions for the graph.
        nodes: ids of the nodes to explain; by default all, of a large graph 6,000.
        track: called with the nodes' views and their number, to show how far it is.
        measured: what is known of the model's accuracy if it was trained on all labels.
    """
    with atomic(path) as file:  # before the work, which would be lost where nothing can be written
        file.write(page(explainer, nodes, track, measured))


def page(
    explainer: GraphExplainer,
    nodes: Sequence[object] | None = None,
    track: Callable[[Views, int], Views] = lambda views, total: views,
    measured: Measured | None = None,
) -> str:
    """The text of the file."""
    wanted = None if nodes is None else explainer.names.node_numbers(nodes)
    predictions = Predictions.of(explainer)
    views = NodeViews(explainer, set(ranking(predictions, wanted)[: confirmed(len(predictions.label))].tolist()))
    choice = choose(predictions, wanted)
    ids = [explainer.names.nodes[node] for node in choice.explained]
    known = Register(explainer.names.nodes[node] for node in choice.on_map)
    features = Register()
    of_nodes = {str(known.place(view["id"])): shortened(view, known, features) for view in track(views(ids), len(ids))}
    return render(_overview(views, choice, known, measured), {"features": features.names, "nodes": of_nodes})


def confirmed(num_nodes: int) -> int:
    """For how many nodes it is found what would change them, which takes some forward passes each."""
    return max(20, 100_000 // num_nodes)


def served_page(explainer: GraphExplainer) -> str:
    """The page without the nodes' reasons, for a server that gives a node's :class:`~ncgnn.page.NodeViews` on
    request."""
    views = NodeViews(explainer)
    choice = choose(views.predictions)
    known = Register(explainer.names.nodes[node] for node in choice.on_map)
    return render(_overview(views, choice, known))


def _overview(views: NodeViews, choice: Choice, known: Register, measured: Measured | None = None) -> dict[str, Any]:
    explainer, predictions = views.explainer, views.predictions
    content = overview(explainer, predictions, choice, measured)
    for listed in ("asked", "unlabelled", "doubtful", "surprising"):
        content[listed] = [known.place(explainer.names.nodes[node]) for node in content[listed]]
    for group in content["groups"] or ():
        group["nodes"] = [known.place(explainer.names.nodes[node]) for node in group["nodes"]]
    table = node_table(explainer, predictions, explainer.names.node_numbers(known.names))
    return content | {"nodes": table, "places": node_places(explainer, predictions, choice)}
