"""Figure 5: the attention filter on Cora, and the receptive field of one node."""

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from torch_geometric.data import Data

from ncgnn.errors import InputError
from ncgnn.experiments.figures.ego import adjacency, ego_tables, filter_row, gcn_row
from ncgnn.experiments.figures.models import Shown, load_split, show_within
from ncgnn.experiments.figures.store import Tables

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
