"""Graphs with a chosen homophily, after Syn-Cora (Zhu et al., "Beyond Homophily in Graph Neural Networks", 2020)."""

import numpy as np
import torch
from torch_geometric.data import Data

from ncgnn.data.attachment import attach
from ncgnn.data.bag_of_words import draw_rows, fits, topic_model
from ncgnn.data.graph import both_directions, feature_tensor, make_graph, merge_edges
from ncgnn.data.local import local_graph
from ncgnn.errors import InputError


def syn_cora(
    homophily: float,
    num_nodes: int = 1490,
    num_classes: int = 5,
    edges_per_node: int = 2,
    seed: int = 0,
    features: Data | None = None,
) -> Data:
    """Generate a graph in which a share ``homophily`` of the edges joins nodes of one class.

    Nodes arrive one after another and link to ``edges_per_node`` earlier ones. For each new edge it is drawn first
    whether it stays within the class, from an urn that holds ``homophily`` of all edges, and then the other end:
    in proportion to degree, and between classes in proportion to one over the circular distance of the class numbers,
    as in the published graphs. Weighting all earlier nodes by degree times homophily, as the original rule reads,
    misses the wanted share, because the classes' total degrees drift. The first few nodes link once, so that the
    default size has the published 2968 edges. Classes have equal sizes (up to one node), and no node is isolated. With
    very few nodes a class the share can fall short, because there is nothing left to link to.

    Args:
        homophily: share of edges within a class, from 0 to 1.
        features: labelled graph whose rows serve as features, drawn without replacement, classes matched by size. By
            default Cora, if it is on this machine and large enough; otherwise binary words from a topic model. The
            edges and labels of a seed do not depend on it.
    """
    _check(homophily, num_nodes, num_classes, edges_per_node)
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(num_nodes) % num_classes)
    edges, _ = merge_edges(attach(y, homophily, edges_per_node, rng), num_nodes)
    x, names = _features(y, features, rng)
    return make_graph(f"syn-cora:{homophily:g}", x, both_directions(edges)[0], torch.from_numpy(y), feature_names=names)


def _features(y: np.ndarray, given: Data | None, rng: np.random.Generator) -> tuple[torch.Tensor, list[str] | None]:
    if given is not None and not fits(given, y):
        raise InputError("features: a class of the given graph has fewer nodes than the class that shall draw from it")
    bank = given if given is not None else local_graph("cora")
    if bank is None or not fits(bank, y):
        return feature_tensor(topic_model(y, rng)), None
    return feature_tensor(draw_rows(bank, y, rng)), bank.get("feature_names")


def _check(homophily: float, num_nodes: int, num_classes: int, edges_per_node: int) -> None:
    if not 0 <= homophily <= 1:
        raise InputError(f"homophily must be from 0 to 1, not {homophily}")
    if num_classes < 2 or edges_per_node < 1:
        raise InputError(f"at least 2 classes and 1 edge per node are needed, not {num_classes} and {edges_per_node}")
    if num_nodes < 2 * num_classes:
        raise InputError(f"{num_nodes} nodes are too few for {num_classes} classes: ask for {2 * num_classes} or more")
