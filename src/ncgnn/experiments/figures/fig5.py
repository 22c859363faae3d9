"""Figure 5: the attention filter on Cora, class probabilities, and four receptive fields of one node."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from torch_geometric.data import Data

from ncgnn.drawing import class_colors, in_order, new_figure, plain
from ncgnn.errors import InputError
from ncgnn.experiments.figures.ego import adjacency, ego_tables, filter_row, gcn_row
from ncgnn.experiments.figures.models import Shown, load_split, show_within
from ncgnn.experiments.figures.store import Tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GRAPH = "cora"
GCN_2, GCN_5, NCGNN_2, NCGNN_5 = "GCN (2-hop)", "GCN (5-hop)", "NCGNN-A (2-hop)", "NCGNN-A (5-hop)"
STEPS = 4
COLUMNS = {
    "hops": ("hop", "attention"),
    "probabilities": ("node", "label", "model", "class", "probability"),
    "nodes": ("panel", "node", "class", "distance", "weight"),
    "edges": ("panel", "source", "target"),
    "agreement": ("model", "both_right", "only_ncgnn", "only_gcn", "both_wrong"),
    "runs": ("model", "test_accuracy"),
}
_SHADES = {GCN_2: "#c8c8c8", GCN_5: "#7a7a7a", NCGNN_2: "#9ecae1", NCGNN_5: "#2171b5"}
_PANELS = {"A": "direct neighbours", GCN_2: GCN_2, NCGNN_2: NCGNN_2, NCGNN_5: NCGNN_5}


def measure(done: Callable[[], None], graph: str = GRAPH) -> Tables:
    """Train the four models, choose the node and measure its receptive fields."""
    data = load_split(graph)
    shown = _train(data, done)
    right = {name: _right(one, data) for name, one in shown.items()}
    node = choose_node(data.test_mask.numpy(), right, _of_label(shown[NCGNN_5], data))
    fields = {
        "A": adjacency(data)[[node]].toarray()[0],
        GCN_2: gcn_row(data, node, 2),
        **{name: filter_row(shown[name], node) for name in (NCGNN_2, NCGNN_5)},
    }
    nodes, edges = ego_tables(data, node, fields)
    return {
        "hops": _hops(shown[NCGNN_5]),
        "probabilities": _probabilities(data, node, shown),
        "nodes": nodes,
        "edges": edges,
        "agreement": _agreement(data.test_mask.numpy(), right),
        "runs": pd.DataFrame([one.row for one in shown.values()]),
    }


def _train(data: Data, done: Callable[[], None]) -> dict[str, Shown]:
    shown = {}
    for name, line, hops in ((GCN_2, "GCN", 2), (GCN_5, "GCN", 5), (NCGNN_2, "NCGNN-A", 2), (NCGNN_5, "NCGNN-A", 5)):
        shown[name] = show_within(data, line, name, hops)
        done()
    return shown


def choose_node(test: np.ndarray, right: Mapping[str, np.ndarray], sureness: np.ndarray) -> int:
    """Among the test nodes that both GCNs get wrong and NCGNN-A with five hops gets right, the one it is most confident
    about."""
    candidates = np.flatnonzero(test & ~right[GCN_2] & ~right[GCN_5] & right[NCGNN_5])
    if not candidates.size:
        raise InputError("fig5 needs a test node that both GCNs get wrong and NCGNN-A gets right, but there is none")
    return int(candidates[sureness[candidates].argmax()])


def _right(shown: Shown, data: Data) -> np.ndarray:
    out: np.ndarray = shown.probabilities.argmax(axis=1) == data.y.numpy()
    return out


def _of_label(shown: Shown, data: Data) -> np.ndarray:
    out: np.ndarray = shown.probabilities[np.arange(len(shown.probabilities)), data.y.numpy()]
    return out


def _hops(shown: Shown) -> pd.DataFrame:
    attention = shown.module.filter.coefficients().detach().numpy()
    hops = shown.settings.hop_set
    return pd.DataFrame({"hop": hops, "attention": attention[hops].astype(float).round(6)})


def _probabilities(data: Data, node: int, shown: Mapping[str, Shown]) -> pd.DataFrame:
    about = {"node": data.node_ids[node], "label": data.class_names[data.y[node]]}
    rows = [
        about | {"model": model, "class": name, "probability": round(float(p), 6)}
        for model, one in shown.items()
        for name, p in zip(data.class_names, one.probabilities[node], strict=True)
    ]
    return pd.DataFrame(rows)


def _agreement(test: np.ndarray, right: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """Number of test nodes that NCGNN-A with five hops and a GCN both get right, and that only one of them does."""
    ours, rows = right[NCGNN_5][test], []
    for model in (GCN_2, GCN_5):
        gcn = right[model][test]
        counts = (ours & gcn).sum(), (ours & ~gcn).sum(), (~ours & gcn).sum(), (~ours & ~gcn).sum()
        rows.append((model, *map(int, counts)))
    return pd.DataFrame(rows, columns=list(COLUMNS["agreement"]))


def draw(tables: Tables) -> "Figure":
    classes = in_order(tables["probabilities"]["class"])
    colors = class_colors(classes)
    figure = new_figure(12, 7.6)
    places = figure.subplots(2, 3).flatten()
    _draw_hops(places[0], tables["hops"])
    _draw_probabilities(places[1], tables["probabilities"], classes)
    for letter, axes, (panel, title) in zip("cdef", places[2:], _PANELS.items(), strict=True):
        nodes, edges = (tables[key][tables[key]["panel"] == panel] for key in ("nodes", "edges"))
        _draw_surroundings(axes, nodes, edges, colors)
        axes.set_title(f"({letter}) {title}: {len(nodes) - 1} nodes")
    groups = [places[2].scatter([], [], s=40, color=color) for color in colors.values()]
    legend = figure.legend(groups, classes, loc="outside lower center", ncols=len(classes), title="class")
    plain(legend.get_texts())
    return figure


def _draw_hops(axes: Any, hops: pd.DataFrame) -> None:
    axes.bar(hops["hop"].astype(str), hops["attention"], color=_SHADES[NCGNN_5])
    axes.axhline(1 / len(hops), color="black", linewidth=0.8, linestyle="--")
    axes.set(title="(a) attention to each hop; dashed: equal", xlabel="hop", ylabel="ξ")


def _draw_probabilities(axes: Any, table: pd.DataFrame, classes: list[str]) -> None:
    width = 0.8 / len(_SHADES)
    for i, (model, shade) in enumerate(_SHADES.items()):
        heights = table[table["model"] == model].set_index("class").loc[classes, "probability"]
        axes.bar(np.arange(len(classes)) + (i - 1.5) * width, heights, width, color=shade, label=model)
    node, label = table.iloc[0][["node", "label"]]
    axes.set_xticks(range(len(classes)), classes)
    axes.set(title=f"(b) node {node}, of class {label}", xlabel="class", ylabel="probability")
    axes.legend(frameon=False, fontsize="small")
    plain([axes.title, *axes.get_xticklabels()])


def _draw_surroundings(axes: Any, nodes: pd.DataFrame, edges: pd.DataFrame, colors: dict[str, Any]) -> None:
    """The node in the centre, the others on rings by distance; size shows weight."""
    at = positions(nodes, edges)
    for source, target in zip(edges["source"], edges["target"], strict=True):
        axes.plot(*zip(at[source], at[target], strict=True), color="lightgrey", linewidth=0.8, zorder=1)
    x, y = np.array([at[node] for node in nodes["node"]]).T
    others = nodes["weight"].to_numpy()[1:]
    size = 25 + 110 * others / max(others.max(initial=0), 1e-12)
    shades = [colors.get(name, "white") for name in nodes["class"]]
    axes.scatter(x[1:], y[1:], s=size, c=shades[1:], zorder=2)
    axes.scatter(x[:1], y[:1], s=230, c=shades[:1], marker="*", edgecolors="black", zorder=3)
    reach = max(int(nodes["distance"].max()), 1) + 0.3
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    axes.set_axis_off()


def positions(nodes: pd.DataFrame, edges: pd.DataFrame) -> dict[str, tuple[float, float]]:
    """Tree layout around the first node: each node is on the ring of its distance, within the sector of its parent."""
    distance = dict(zip(nodes["node"], nodes["distance"], strict=True))
    children, root = tree(distance, edges), nodes["node"].iloc[0]
    angle: dict[str, float] = {}

    def leaves(node: str) -> int:
        return sum(map(leaves, children[node])) or 1

    def spread(node: str, start: float, width: float) -> None:
        angle[node] = start + width / 2
        for child in children[node]:
            part = width * leaves(child) / leaves(node)
            spread(child, start, part)
            start += part

    spread(root, 0.0, 2 * np.pi)
    return {node: (distance[node] * float(np.cos(a)), distance[node] * float(np.sin(a))) for node, a in angle.items()}


def tree(distance: dict[str, int], edges: pd.DataFrame) -> dict[str, list[str]]:
    """The children of each node. The parent is a neighbour that is one step closer to the first node, or the first
    node itself if no such neighbour is drawn."""
    root = next(iter(distance))
    parent: dict[str, str] = {node: root for node in distance if node != root}
    pairs = list(zip(edges["source"], edges["target"], strict=True))
    for near, far in pairs + [(target, source) for source, target in pairs]:
        if distance[near] == distance[far] - 1:
            parent[far] = near
    return {node: [child for child, its in parent.items() if its == node] for node in distance}


def caption(tables: Tables) -> str:
    runs = tables["runs"].set_index("model")["test_accuracy"]
    first = tables["hops"].sort_values("attention", ascending=False).iloc[0]
    counts = tables["agreement"].set_index("model").loc[GCN_2]
    accuracies = ", ".join(f"{runs[model]:.1%} {model}" for model in _SHADES)
    return (
        f"NCGNN-A on Cora. (a) The attention ξ of each hop, here largest for hop {first['hop']:.0f} "
        f"({first['attention']:.2f}); in the paper, farther hops get more. (b) Class probabilities of one node from "
        "four models. (c) Its direct neighbours, (d) the receptive field of a two-layer GCN, (e, f) those of NCGNN-A's "
        "filters. The star is the node; rings show distance, size shows weight; at most 32 nodes are drawn. The node "
        "is only an example: among the test nodes that both GCNs get wrong and NCGNN-A with five hops gets right, it "
        f"is the one NCGNN-A is most confident about. Of all test nodes, {counts['only_ncgnn']} are right with NCGNN-A "
        f"only and {counts['only_gcn']} with the two-layer GCN only. Test accuracies: {accuracies}."
    )
