"""Counterfactuals: size, time and confirmation, beside greedy removal by GNNExplainer's mask.

python -m benchmarks.what_if [GRAPH ...]      cora, chameleon and the example shop; --nodes N, --slow N

A row per graph, method and node is written to results/audits/what-if.csv as soon as it is measured; nodes that
are there already are not measured again.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory
from time import process_time

import torch
from torch_geometric.data import Data

from benchmarks import table
from benchmarks.table import Row
from ncgnn.classifier import NCGNNClassifier
from ncgnn.data import load_dataset, read_graph, usual_split
from ncgnn.data.generated.shop import shop_tables
from ncgnn.explain import GraphExplainer
from ncgnn.explain.counterfactual import MOST
from ncgnn.explain.quality import sample
from ncgnn.explain.quality.compared import gnn_explainer
from ncgnn.models.ncgnn.config import preset
from ncgnn.provenance import machine

ROOT = Path(__file__).parents[1]
PATH = ROOT / "results/audits/what-if.csv"
GRAPHS = ("cora", "chameleon", "shop")
KINDS = ("neighbours", "links", "features")
KEY = ("graph", "method", "node")
SLOW = "GNNExplainer's mask, in turn"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("graphs", nargs="*", default=GRAPHS)
    options.add_argument("--nodes", type=int, default=100, help="test nodes for each kind of removal")
    options.add_argument("--slow", type=int, default=10, help="of these, nodes for GNNExplainer")
    given = options.parse_args()
    torch.set_num_threads(1)
    about = machine()
    for graph in given.graphs:
        data, explainer = trained(graph)
        nodes = sample(data, given.nodes)
        for method, found in measured(graph, explainer, nodes, nodes[: given.slow]):
            table.keep(PATH, [{"graph": graph, "method": method} | found | about], KEY)
    print("\n".join(summary(table.read(PATH))))


def trained(graph: str) -> tuple[Data, GraphExplainer]:
    data = shop() if graph == "shop" else usual_split(load_dataset(graph))
    settings = {} if graph == "shop" else preset(graph)
    return data, GraphExplainer(NCGNNClassifier(**settings).fit_scored(data))


def shop() -> Data:
    with TemporaryDirectory() as folder:
        for name, rows in shop_tables().items():
            rows.to_csv(Path(folder) / name, index=False)
        tables = [Path(folder) / name for name in ("products.csv", "bought-together.csv")]
        columns = {"label": "department", "title": "title", "weight": "orders", "ignore": ["shelf"]}
        data = usual_split(read_graph(*tables, **columns))
    data.name = "shop"
    return data


def measured(
    graph: str, explainer: GraphExplainer, nodes: Sequence[int], few: Sequence[int]
) -> Iterator[tuple[str, Row]]:
    """A row for each method and node that has none yet."""
    methods: dict[str, tuple[Callable[[GraphExplainer, int], Row], Sequence[int]]] = {
        kind: (lambda explainer, node, kind=kind: ours(explainer, node, kind), nodes) for kind in KINDS
    }
    methods[SLOW] = by_mask, few
    for method, (measure, chosen) in methods.items():
        for node in chosen:
            if not table.holds(table.read(PATH), {"graph": graph, "method": method, "node": node}):
                start = process_time()
                found = measure(explainer, node)
                yield method, {"node": node, "seconds": process_time() - start} | found


def ours(explainer: GraphExplainer, node: int, kind: str) -> Row:
    """The smallest removal found, and whether one more forward pass confirms it."""
    found = explainer.counterfactual(explainer.names.nodes[node], kind)
    return {"size": len(found.removed), "passes": found.passes, "confirmed": confirmed(explainer, node, kind, found)}


def confirmed(explainer: GraphExplainer, node: int, kind: str, found: object) -> str:
    if not found.removed:
        return ""
    if kind == "features":
        gone = explainer._columns_called(found.removed)
    else:
        gone = explainer.names.node_numbers(found.removed)
    return str(explainer.removal.class_without(node, {kind: gone}) != int(explainer.removal.subject.predicted[node]))


def by_mask(explainer: GraphExplainer, node: int) -> Row:
    """Neighbours are removed in the order of the mask until the class changes."""
    removal = explainer.removal
    torch.manual_seed(0)
    mask = gnn_explainer(removal.subject, node).detach()
    heard = [other for other in mask.argsort(descending=True).tolist() if other != node and mask[other] > 0][:MOST]
    for count in range(1, len(heard) + 1):
        if removal.class_without(node, {"neighbours": heard[:count]}) != int(removal.subject.predicted[node]):
            return {"size": count, "passes": count, "confirmed": "True"}
    return {"size": 0, "passes": len(heard), "confirmed": ""}


def summary(rows: list[Row]) -> Iterator[str]:
    """A table: how often a removal of at most ten things is found, its size, and what it costs."""
    yield "| graph | removed | nodes | changed | mean size | median seconds a node | confirmed |"
    yield "|---|---|---:|---:|---:|---:|---:|"
    for graph, method in dict.fromkeys((row["graph"], row["method"]) for row in rows):
        mine = [row for row in rows if (row["graph"], row["method"]) == (graph, method)]
        found = [row for row in mine if row["size"]]
        size = f"{mean(row['size'] for row in found):.2f}" if found else "-"
        right = sum(str(row["confirmed"]) == "True" for row in found)
        seconds = median(row["seconds"] for row in mine)
        counted = f"{len(mine)} | {len(found)} | {size} | {seconds:.3f} | {right} of {len(found)}"
        yield f"| {graph} | {method} | {counted} |"
    for graph in dict.fromkeys(row["graph"] for row in rows):
        yield from _paired(graph, rows)


def _paired(graph: str, rows: list[Row]) -> Iterator[str]:
    """On nodes where both find one: the mean sizes."""
    sizes = {
        method: {row["node"]: row["size"] for row in rows if (row["graph"], row["method"]) == (graph, method)}
        for method in ("neighbours", SLOW)
    }
    both = [node for node, size in sizes[SLOW].items() if size and sizes["neighbours"].get(node)]
    if both:
        means = [mean(sizes[method][node] for node in both) for method in sizes]
        yield f"\n{graph}, {len(both)} nodes where both find one: {means[0]:.2f} neighbours, by the mask {means[1]:.2f}"


if __name__ == "__main__":
    main()
