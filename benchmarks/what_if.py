"""Counterfactuals: size, time and confirmation, beside greedy removal by GNNExplainer's mask and CF-GNNExplainer.

python -m benchmarks.what_if [GRAPH ...]      all graphs; --nodes N, --slow N
python -m benchmarks.what_if --page           only fill in docs/explanations.md from what there is

A row per graph, method and node is written to results/audits/what-if.csv as soon as it is measured; nodes that
are there already are not measured again.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import mean, median
from time import process_time

import torch
from torch_geometric.data import Data

from benchmarks import table
from benchmarks.cf_gnn_explainer import EPOCHS, cf_gnn_explainer
from benchmarks.graphs import shop
from benchmarks.motifs import MOTIFS, truth, with_motifs
from benchmarks.page import fill, made_on
from benchmarks.table import Row
from ncgnn.classifier import NCGNNClassifier
from ncgnn.data import load_dataset, usual_split
from ncgnn.explain import GraphExplainer
from ncgnn.explain.counterfactual import MOST, What
from ncgnn.explain.quality import sample
from ncgnn.explain.quality.compared import gnn_explainer
from ncgnn.files import atomic
from ncgnn.models.ncgnn.config import preset
from ncgnn.provenance import machine

ROOT = Path(__file__).parents[1]
PATH = ROOT / "results/audits/what-if.csv"
PAGE = ROOT / "docs/explanations.md"
GRAPHS = ("shop", "cycle", "house", "cora", "chameleon")
KINDS: tuple[What, ...] = ("neighbours", "links", "features")
KEY = ("graph", "method", "node")
BY_MASK, BY_DESCENT = "GNNExplainer's mask, in turn", "CF-GNNExplainer"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("graphs", nargs="*", default=GRAPHS)
    options.add_argument("--nodes", type=int, default=100, help="test nodes for each kind of removal")
    options.add_argument("--slow", type=int, default=10, help="of these, nodes for other methods")
    options.add_argument("--page", action="store_true", help="only fill in the page")
    given = options.parse_args()
    torch.set_num_threads(1)
    about = machine()
    for graph in () if given.page else given.graphs:
        data, explainer = trained(graph)
        nodes = [node for node in sample(data, given.nodes) if graph not in MOTIFS or data.motif[node] >= 0]
        for method, found in measured(graph, explainer, nodes, nodes[: given.slow]):
            table.keep(PATH, [{"graph": graph, "method": method} | found | about], KEY)
    text = render(PAGE.read_text("utf-8"))
    with atomic(PAGE) as file:
        file.write(text)


def render(page: str) -> str:
    """The page with an updated table."""
    rows = table.read(PATH)
    return fill(page, "what-if", "\n".join([*summary(rows), "", made_on(rows)]))


def trained(graph: str) -> tuple[Data, GraphExplainer]:
    if graph in MOTIFS:
        data, settings = with_motifs(graph), {"hops": 3}
    else:
        data = shop() if graph == "shop" else usual_split(load_dataset(graph))
        settings = {} if graph == "shop" else preset(graph)
    return data, GraphExplainer(NCGNNClassifier(**settings).fit_scored(data))


def measured(
    graph: str, explainer: GraphExplainer, nodes: Sequence[int], few: Sequence[int]
) -> Iterator[tuple[str, Row]]:
    """A row for each method and node that has none yet."""
    methods: dict[str, tuple[Callable[[GraphExplainer, int], Row], Sequence[int]]] = {
        kind: (partial(ours, kind=kind), nodes) for kind in KINDS
    }
    methods |= {BY_MASK: (by_mask, few), BY_DESCENT: (by_descent, few)}
    for method, (measure, chosen) in methods.items():
        for node in chosen:
            if not table.holds(table.read(PATH), {"graph": graph, "method": method, "node": node}):
                start = process_time()
                found = measure(explainer, node)
                yield method, {"node": node, "seconds": process_time() - start} | found


def ours(explainer: GraphExplainer, node: int, kind: What) -> Row:
    """The smallest removal found, and whether one more forward pass confirms it."""
    found = explainer.counterfactual(explainer.names.nodes[node], kind)
    if kind == "features":
        gone = explainer._columns_called(found.removed)
    else:
        gone = explainer.names.node_numbers(found.removed)
    return described(explainer, node, kind, gone) | {"passes": found.passes}


def by_mask(explainer: GraphExplainer, node: int) -> Row:
    """Neighbours are removed in the order of the mask until the class changes."""
    removal = explainer.removal
    torch.manual_seed(0)
    mask = gnn_explainer(removal.subject, node).detach()
    heard = [other for other in mask.argsort(descending=True).tolist() if other != node and mask[other] > 0][:MOST]
    for count in range(1, len(heard) + 1):
        if removal.class_without(node, {"neighbours": heard[:count]}) != int(removal.subject.predicted[node]):
            return described(explainer, node, "neighbours", heard[:count]) | {"passes": count}
    return described(explainer, node, "neighbours", []) | {"passes": len(heard)}


def by_descent(explainer: GraphExplainer, node: int) -> Row:
    gone = cf_gnn_explainer(explainer.removal.subject, node)
    return described(explainer, node, "neighbours", gone) | {"passes": EPOCHS}


def described(explainer: GraphExplainer, node: int, kind: str, gone: Sequence[int]) -> Row:
    """The size of a removal, whether it changes the class, and the share of it that is a known reason."""
    removal = explainer.removal
    row: Row = {"size": len(gone), "confirmed": "", "accuracy": ""}
    if gone:
        row["confirmed"] = str(removal.class_without(node, {kind: gone}) != int(removal.subject.predicted[node]))
    known = truth(removal.subject, removal.data, node) if kind != "features" else None
    if gone and known is not None:
        heard, reasons = known
        row["accuracy"] = len(set(gone) & set(heard[reasons].tolist())) / len(gone)
    return row


def summary(rows: list[Row]) -> Iterator[str]:
    """A table: how often a removal is found (fidelity is the share of nodes where none is), its median and mean size,
    the share of it that is a known reason, and what it costs a node."""
    head = ("graph", "removed", "nodes", "changed", "fidelity", "size", "accuracy", "median seconds", "confirmed")
    yield f"| {' | '.join(head)} |"
    yield "|---|---|---:|---:|---:|---:|---:|---:|---:|"
    for graph, method in dict.fromkeys((row["graph"], row["method"]) for row in rows):
        mine = [row for row in rows if (row["graph"], row["method"]) == (graph, method)]
        found = [row for row in mine if row["size"]]
        size = (
            f"{median(row['size'] for row in found):g} (mean {mean(row['size'] for row in found):.2f})"
            if found
            else "-"
        )
        known = [row["accuracy"] for row in found if row.get("accuracy", "") != ""]
        accuracy = f"{mean(known):.2f}" if known else "-"
        right = sum(str(row["confirmed"]) == "True" for row in found)
        seconds = median(row["seconds"] for row in mine)
        counted = f"{len(mine)} | {len(found)} | {1 - len(found) / len(mine):.2f} | {size} | {accuracy}"
        yield f"| {graph} | {method} | {counted} | {seconds:.3f} | {right} of {len(found)} |"
    for graph in dict.fromkeys(row["graph"] for row in rows):
        yield from _paired(graph, rows)


def _paired(graph: str, rows: list[Row]) -> Iterator[str]:
    """On nodes where both find one: the mean sizes."""
    for other in (BY_MASK, BY_DESCENT):
        ours, theirs = (
            {row["node"]: row["size"] for row in rows if (row["graph"], row["method"]) == (graph, method)}
            for method in ("neighbours", other)
        )
        both = [node for node, size in theirs.items() if size and ours.get(node)]
        if both:
            means = [mean(sizes[node] for node in both) for sizes in (ours, theirs)]
            counted = "1 node" if len(both) == 1 else f"{len(both)} nodes"
            yield f"\n{graph}, {counted} where both find one: {means[0]:.2f} neighbours, by {other} {means[1]:.2f}."


if __name__ == "__main__":
    main()
