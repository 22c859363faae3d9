"""Graphs whose reasons are known: houses on a Barabási-Albert graph and cycles on a tree, from PyG's ExplainerDataset.

The class of a node is its place in a motif, so the reason for it are the other nodes of this motif.
"""

import torch
from scipy.sparse.csgraph import connected_components
from torch import Tensor
from torch_geometric import seed_everything
from torch_geometric.data import Data
from torch_geometric.datasets import ExplainerDataset
from torch_geometric.datasets.graph_generator import BAGraph, TreeGraph
from torch_geometric.datasets.motif_generator import CycleMotif, HouseMotif
from torch_geometric.utils import to_scipy_sparse_matrix

from ncgnn.data import complete, split_stratified
from ncgnn.data.structure import scaled, structure
from ncgnn.explain.quality import Subject, field
from ncgnn.explain.quality.planted import planted_nodes

MOTIFS = {
    "house": lambda: ExplainerDataset(BAGraph(300, 5), HouseMotif(), num_motifs=80),
    "cycle": lambda: ExplainerDataset(TreeGraph(depth=8), CycleMotif(6), num_motifs=60),
}


def with_motifs(name: str) -> Data:
    """The graph, half of it for testing, with features made from its edges and the ``motif`` of each node, -1 if none.

    With the constant features of PyG, all votes are equal, and the model learns next to nothing.
    """
    with torch.random.fork_rng(devices=[]):
        seed_everything(0)  # Barabási-Albert graphs are drawn by numpy
        made = MOTIFS[name]()[0]
    inside = made.edge_index[:, made.edge_mask.bool()]
    number = connected_components(to_scipy_sparse_matrix(inside, num_nodes=made.num_nodes))[1]
    motif = torch.from_numpy(number).long().where(made.node_mask.bool(), -1)
    x = scaled(structure(made.edge_index, made.num_nodes))
    data = complete(Data(x=x, edge_index=made.edge_index, y=made.y, name=name, motif=motif))
    return split_stratified(data, train=0.4, val=0.1)


def truth(subject: Subject, data: Data, node: int) -> tuple[Tensor, Tensor] | None:
    """The other nodes that a node hears, and which of them are the reason for its class; ``None`` unless it is
    predicted correctly and there are some."""
    if subject.predicted[node] != data.y[node]:
        return None
    heard = field(subject, node)
    heard = heard[heard != node]
    if "motif" in data:
        reasons = (data.motif == data.motif[node]) & (data.motif >= 0)
    elif "node_group" in data:
        reasons = planted_nodes(subject, data, node)
    else:
        return None
    return (heard, reasons[heard]) if 0 < int(reasons[heard].sum()) < len(heard) else None
