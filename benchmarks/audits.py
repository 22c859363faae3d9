"""The audit of several graphs, and what other methods say of the same nodes: a long measurement that resumes.

python -m benchmarks.audits [GRAPH ...]       --nodes N, --methods NAME ...; without graphs: all eight

Rows are written to results/audits/nodes.csv one by one, by graph, method and node, and are not measured
again. --summary prints means with paired intervals, and the audit of an honest and of a deceiving model.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import process_time

import numpy as np
import torch
from torch_geometric.data import Data
from torch_geometric.datasets import ExplainerDataset
from torch_geometric.datasets.graph_generator import BAGraph, TreeGraph

from benchmarks import table
from benchmarks.deceiver import HIDING, removal_of, secret_graph, trained
from benchmarks.table import Row
from ncgnn.classifier import NCGNNClassifier
from ncgnn.data import complete, load_dataset, split_per_class, usual_split
from ncgnn.explain import GraphExplainer
from ncgnn.explain.quality import OURS, Subject, audit, rankings, sample
from ncgnn.explain.quality.measures import ranked, remove, summary
from ncgnn.models.ncgnn.config import preset
from ncgnn.provenance import machine

ROOT = Path(__file__).parents[1]
NODES = ROOT / "results/audits/nodes.csv"
MODELS = ROOT / "results/audits/models.csv"
MOTIFS = {
    "house": lambda: ExplainerDataset(BAGraph(300, 5), "house", num_motifs=80),
    "cycle": lambda: ExplainerDataset(TreeGraph(depth=8), "cycle", num_motifs=60),
}
GRAPHS = ("cora", "cora-ml", "amazon-photo", "chameleon", "texas", "planted", *MOTIFS)
KEY = ("graph", "method", "node")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("graphs", nargs="*", default=GRAPHS)
    options.add_argument("--nodes", type=int, default=200)
    options.add_argument("--methods", nargs="+", help="default: all")
    options.add_argument("--summary", action="store_true", help="only print what is there")
    given = options.parse_args()
    torch.set_num_threads(1)
    if not given.summary:
        about = machine()
        for name, hiding in {"honest": 0.0, "deceiver": HIDING}.items():
            _keep_model(name, lambda hiding=hiding: removal_of(trained(secret_graph(), hiding), secret_graph()), about)
        for graph in given.graphs:
            _measure(graph, given.nodes, given.methods, about)
    print("\n".join(report()))


def _measure(graph: str, count: int, methods: Sequence[str] | None, about: Row) -> None:
    data = graph_of(graph)
    explainer = GraphExplainer(NCGNNClassifier(**_settings(graph)).fit_scored(data))
    nodes = sample(data, count)
    _keep_model(graph, lambda: explainer.removal, about, nodes[: min(count, 50)])
    subject = explainer.removal.subject
    for method, ranking in rankings(subject).items():
        for node in nodes if methods is None or method in methods else ():
            if table.holds(table.read(NODES), {"graph": graph, "method": method, "node": node}):
                continue
            torch.manual_seed(node)
            start = process_time()
            order = ranked(subject, node, ranking(subject, node))
            row = {"graph": graph, "method": method, "node": node, "seconds": process_time() - start}
            table.keep(NODES, [row | _quality(subject, node, order) | about], KEY)


def _quality(subject: Subject, node: int, order: torch.Tensor) -> Row:
    """Characterisation and its two sides, means over sparsities."""
    found = {one.measure: one.value for one in summary(remove(subject, [node], [order])) if one.sparsity is None}
    return {name: found[name] for name in ("characterisation", "fidelity+", "fidelity-")}


def _keep_model(name: str, removal: object, about: Row, nodes: Sequence[int] = range(0, 160, 8)) -> None:
    if table.holds(table.read(MODELS), {"model": name}):
        return
    found = audit(removal(), nodes)
    rows = [{"model": name, "measure": measure, "value": value} for measure, value in found.rows()]
    said = [{"model": name, "measure": "verdict", "value": found.verdict}]
    table.keep(MODELS, [row | {"nodes": found.nodes} | about for row in (*rows, *said)], ("model", "measure"))


def graph_of(name: str) -> Data:
    if name in MOTIFS:
        torch.manual_seed(0)
        made = MOTIFS[name]()[0]
        x = torch.ones(made.num_nodes, 1)
        data = complete(Data(x=x, edge_index=made.edge_index, y=made.y, name=name, node_mask=made.node_mask))
        return split_per_class(data, train=20, val=10)
    return usual_split(load_dataset(name))


def _settings(graph: str) -> Row:
    return {"hops": 3} if graph in MOTIFS else preset(graph)


def report() -> Iterator[str]:
    """The audits, then characterisation with intervals of the paired difference to the contributions."""
    models = table.read(MODELS)
    for model in dict.fromkeys(row["model"] for row in models):
        found = {row["measure"]: row["value"] for row in models if row["model"] == model}
        numbers = ", ".join(f"{name} {value:.3f}" for name, value in found.items() if isinstance(value, float))
        yield f"{model}: {found['verdict']} {numbers}"
    rows = table.read(NODES)
    for graph in dict.fromkeys(row["graph"] for row in rows):
        values = {
            method: {row["node"]: row for row in rows if (row["graph"], row["method"]) == (graph, method)}
            for method in dict.fromkeys(row["method"] for row in rows if row["graph"] == graph)
        }
        yield f"\n| {graph} | nodes | characterisation | contributions ahead by | seconds |\n|---|---:|---:|---:|---:|"
        yield from (_line(method, found, values[OURS]) for method, found in values.items())


def _line(method: str, found: dict[int, Row], ours: dict[int, Row]) -> str:
    both = [node for node in found if node in ours]
    ahead = np.array([ours[node]["characterisation"] - found[node]["characterisation"] for node in both])
    draws = np.random.default_rng(0).choice(ahead, (2000, len(ahead))).mean(axis=1)
    low, high = np.percentile(draws, [2.5, 97.5])
    mean, seconds = (np.mean([row[key] for row in found.values()]) for key in ("characterisation", "seconds"))
    return f"| {method} | {len(found)} | {mean:.3f} | {ahead.mean():+.3f} [{low:+.3f}, {high:+.3f}] | {seconds:.4f} |"


if __name__ == "__main__":
    main()
