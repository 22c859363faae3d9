"""The audit of several graphs, and what other methods say of the same nodes: a long measurement that resumes.

python -m benchmarks.audits [GRAPH ...]       --nodes N, --methods NAME ...; without graphs: all eight, quickest first
python -m benchmarks.audits --page            only fill in docs/explanations.md from what there is

The audits are kept in results/audits/models.csv; every node is a row in results/audits/nodes-GRAPH.csv for each method.
Rows are kept every few seconds, and are not measured again. Captum's methods need the package captum.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import process_time

import torch
from torch_geometric.data import Data

from benchmarks import audited_page, table
from benchmarks.deceiver import HIDING, removal_of, secret_graph, trained
from benchmarks.motifs import MOTIFS, truth, with_motifs
from benchmarks.table import Row
from ncgnn.classifier import NCGNNClassifier
from ncgnn.data import load_dataset, usual_split
from ncgnn.explain import GraphExplainer
from ncgnn.explain.quality import EXACT, SPARSITIES, Audit, Ranking, Subject, audit, field, rankings, sample
from ncgnn.explain.quality.measures import ranked, remove
from ncgnn.explain.quality.planted import found
from ncgnn.explain.quality.shapley import FEW
from ncgnn.models.ncgnn.config import preset
from ncgnn.provenance import machine

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results/audits"
GRAPHS = ("texas", "cycle", "planted", "house", "cora", "cora-ml", "chameleon", "amazon-photo")
AUDITED = 50
AT_LEAST = 20
"""Seconds of measurement after which rows are kept: each time, the whole file is written again."""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("graphs", nargs="*", default=GRAPHS)
    options.add_argument("--nodes", type=int, default=200)
    options.add_argument("--methods", nargs="+", help="default: all")
    options.add_argument("--page", action="store_true", help="only fill in the page")
    given = options.parse_args()
    torch.set_num_threads(1)
    if not given.page:
        about = machine()
        _keep_model("honest", lambda: _planted_audit(0.0), about)
        _keep_model("deceiver", lambda: _planted_audit(HIDING), about)
        for graph in given.graphs:
            _measure(graph, given.nodes, given.methods, about)
    audited_page.write(ROOT / "docs/explanations.md", RESULTS)


def _planted_audit(hiding: float) -> Audit:
    data = secret_graph()
    return audit(removal_of(trained(data, hiding), data), range(0, 160, 8))


def _measure(graph: str, count: int, methods: Sequence[str] | None, about: Row) -> None:
    data = graph_of(graph)
    explainer = GraphExplainer(NCGNNClassifier(**settings(graph)).fit_scored(data))
    subject, nodes = explainer.removal.subject, chosen(data, count)
    _keep_model(graph, lambda: _audit(explainer, data, graph, nodes[:AUDITED]), about)
    few = [node for node in nodes if len(field(subject, node)) <= FEW]
    for method, ranking in rankings(subject, few).items():
        if methods is None or method in methods:
            _measure_one(graph, method, ranking, subject, data, few if method == EXACT else nodes, about)


def _audit(explainer: GraphExplainer, data: Data, graph: str, nodes: Sequence[int]) -> Audit:
    again = GraphExplainer(NCGNNClassifier(**settings(graph) | {"seed": 1}).fit_scored(data))
    return audit(explainer.removal, nodes, again.removal)


def _measure_one(
    graph: str, method: str, ranking: Ranking, subject: Subject, data: Data, nodes: Sequence[int], about: Row
) -> None:
    path, key = RESULTS / f"nodes-{graph}.csv", {"graph": graph, "method": method}
    known = {row["node"] for row in table.read(path) if row["method"] == method}
    left = [node for node in nodes if node not in known]
    rows: list[Row] = []
    start = process_time()
    for count, one in enumerate(_of_nodes(ranking, subject, data, left), 1):
        rows.append(key | one | about)
        if count == len(left) or process_time() - start > AT_LEAST:
            table.keep(path, rows, ("method", "node"))
            print(f"{graph}: {method}, {count} of {len(left)} nodes", file=sys.stderr, flush=True)
            rows, start = [], process_time()


def _of_nodes(ranking: Ranking, subject: Subject, data: Data, nodes: Sequence[int]) -> Iterator[Row]:
    for node in nodes:
        torch.manual_seed(node)
        start = process_time()
        importance = ranking(subject, node).detach()
        row: Row = {"node": node, "seconds": process_time() - start}
        effects = remove(subject, [node], [ranked(subject, node, importance)])
        for name, changes in {"fidelity+": effects.without_changes, "fidelity-": effects.kept_changes}.items():
            row |= {f"{name} {sparsity}": int(change) for sparsity, change in zip(SPARSITIES, changes[0], strict=True)}
        known = truth(subject, data, node)
        if known is not None:
            heard, reasons = known
            row |= {one.measure.split()[0]: one.value for one in found("neighbours", [importance[heard]], [reasons])}
        yield {"precision": "", "recall": "", "AUC": ""} | row


def _keep_model(name: str, measure: Callable[[], Audit], about: Row) -> None:
    path = RESULTS / "models.csv"
    if table.holds(table.read(path), {"model": name}):
        return
    one = measure()
    values: list[tuple[str, float | str | None]] = [*one.rows(), ("verdict", one.verdict)]
    rows = [{"model": name, "measure": measure, "value": value, "nodes": one.nodes} for measure, value in values]
    table.keep(path, [row | about for row in rows], ("model", "measure"))


def chosen(data: Data, count: int) -> list[int]:
    """Test nodes; where there are too few, other nodes with a label as well."""
    tested = sample(data, count)
    rest = [node for node in sample(Data(num_nodes=data.num_nodes), data.num_nodes) if data.y[node] >= 0]
    return list(dict.fromkeys([*tested, *rest]))[:count]


def graph_of(name: str) -> Data:
    return with_motifs(name) if name in MOTIFS else usual_split(load_dataset(name))


def settings(graph: str) -> Row:
    return {"hops": 3} if graph in MOTIFS else preset(graph)


if __name__ == "__main__":
    main()
