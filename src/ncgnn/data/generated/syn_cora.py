"""Graphs with a chosen homophily, after Syn-Cora (Zhu et al., "Beyond Homophily in Graph Neural Networks", 2020)."""

from itertools import accumulate

import numpy as np
import scipy.sparse as sp
import torch
from torch_geometric.data import Data

from ncgnn.data.graph import both_directions, feature_matrix, feature_tensor, make_graph, merge_edges
from ncgnn.data.named.packaged import local_graph
from ncgnn.errors import InputError

_WORDS, _LENGTH = 1433, 18  # Cora's vocabulary and mean number of words


def syn_cora(
    homophily: float,
    num_nodes: int = 1490,
    num_classes: int = 5,
    edges_per_node: int = 2,
    seed: int = 0,
    features: Data | None = None,
) -> Data:
    """Generate a graph in which a fraction ``homophily`` of the edges is within classes.

    Nodes arrive one by one and link to ``edges_per_node`` earlier ones. For each new edge, we first draw whether it is
    within the class, from an urn with a fraction ``homophily`` of such edges, and then the other end: with probability
    proportional to degree and, between classes, to one over the circular distance of the class numbers, as in the
    published graphs. Weighting all earlier nodes by degree times homophily, as the original rule says, misses the
    target homophily because the total degrees of the classes drift. The first few nodes link once, so that the default
    size has the published 2968 edges. Classes have equal sizes (up to one node), and no node is isolated. With very few
    nodes per class, the homophily can be too low because there are no nodes left to link to.

    Args:
        homophily: fraction of edges within a class, from 0 to 1.
        features: labelled graph whose rows are used as features, drawn without replacement, with classes matched by
            size. Default: Cora, if it is available locally and large enough; otherwise binary words from a topic model.
            The edges and labels for a seed do not depend on it.
    """
    _check(homophily, num_nodes, num_classes, edges_per_node)
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(num_nodes) % num_classes)
    edges, _ = merge_edges(_attach(y, homophily, edges_per_node, rng), num_nodes)
    x, names = _features(y, features, rng)
    return make_graph(f"syn-cora:{homophily:g}", x, both_directions(edges)[0], torch.from_numpy(y), feature_names=names)


def _features(y: np.ndarray, given: Data | None, rng: np.random.Generator) -> tuple[torch.Tensor, list[str] | None]:
    if given is not None and not _fits(given, y):
        raise InputError("features: a class of the given graph has fewer nodes than the class that draws from it")
    bank = given if given is not None else local_graph("cora")
    if bank is None or not _fits(bank, y):
        return feature_tensor(_topic_model(y, rng)), None
    return feature_tensor(_draw_rows(bank, y, rng)), bank.get("feature_names")


def _check(homophily: float, num_nodes: int, num_classes: int, edges_per_node: int) -> None:
    if not 0 <= homophily <= 1:
        raise InputError(f"homophily must be from 0 to 1, not {homophily}")
    if num_classes < 2 or edges_per_node < 1:
        raise InputError(f"at least 2 classes and 1 edge per node are needed, not {num_classes} and {edges_per_node}")
    if num_nodes < 2 * num_classes:
        raise InputError(f"{num_nodes} nodes are too few for {num_classes} classes: ask for {2 * num_classes} or more")


def _attach(y: np.ndarray, homophily: float, per_node: int, rng: np.random.Generator) -> np.ndarray:
    """Edges (new node, earlier node) of a graph that grows node by node, shape (edges, 2).

    Whether an edge is within its class is drawn from an urn, so the homophily is exact as long as there is a node to
    link to in both cases.
    """
    graph = _Growth(y.tolist(), rng)
    new_ends = np.repeat(np.arange(len(y)), _edge_counts(len(y), per_node)).tolist()
    within = round(homophily * len(new_ends))
    for left, node in zip(range(len(new_ends), 0, -1), new_ends, strict=True):
        within -= graph.link(node, within=rng.random() * left < within)
    return np.array(graph.edges)


def _edge_counts(num_nodes: int, per_node: int) -> list[int]:
    """Number of new edges per node: none for the first, one for the next few, then ``per_node``."""
    start = min(num_nodes, 5 * per_node + 1)
    return [0] + [1] * (start - 1) + [per_node] * (num_nodes - start)


class _Growth:
    """The graph so far. A pool lists the nodes of a class, each repeated by degree, so uniform draws follow degrees."""

    def __init__(self, classes: list[int], rng: np.random.Generator) -> None:
        self.classes, self.rng = classes, rng
        self.edges: list[tuple[int, int]] = []
        self.pools: list[list[int]] = [[] for _ in range(max(classes) + 1)]
        self.earlier = [0] * len(self.pools)  # nodes of each class that arrived before the newest
        self.newest = 0
        self.linked: list[int] = [0]  # the first node starts with degree one, otherwise nothing could link to it

    def link(self, node: int, within: bool) -> bool:
        """Link ``node`` to an earlier node, within its class or not as requested if possible; return whether it is."""
        if node != self.newest:
            self._arrive(node)
        within = self._possible(within)
        other = self._draw(within)
        self.edges.append((node, other))
        self.linked.append(other)
        return within

    def _arrive(self, node: int) -> None:
        for end in self.linked:
            self.pools[self.classes[end]].append(end)
            if self.newest:
                self.pools[self.classes[self.newest]].append(self.newest)
        self.earlier[self.classes[self.newest]] += 1
        self.newest, self.linked = node, []

    def _possible(self, within: bool) -> bool:
        own = self.classes[self.newest]
        taken = sum(self.classes[other] == own for other in self.linked)
        inside = self.earlier[own] > taken
        outside = self.newest - self.earlier[own] > len(self.linked) - taken
        return inside if within else not outside

    def _draw(self, within: bool) -> int:
        bounds = list(accumulate(self._weight(other, within) for other in range(len(self.pools))))
        while True:
            point = self.rng.random() * bounds[-1]
            pool = self.pools[next(i for i, bound in enumerate(bounds) if point < bound)]
            node = pool[int(self.rng.random() * len(pool))]
            if node not in self.linked:
                return node

    def _weight(self, other: int, within: bool) -> float:
        """Weight of a class: its total degree divided by the circular distance between class numbers."""
        distance = abs(self.classes[self.newest] - other)
        if within or distance == 0:
            return float(within and distance == 0)
        return len(self.pools[other]) / min(distance, len(self.pools) - distance)


def _fits(bank: Data, y: np.ndarray) -> bool:
    """Whether each class of ``y`` has enough rows in the class of ``bank`` with the same rank by size."""
    have, need = -np.sort(-_sizes(bank)), -np.sort(-np.bincount(y))
    return len(have) >= len(need) and bool((have[: len(need)] >= need).all())


def _draw_rows(bank: Data, y: np.ndarray, rng: np.random.Generator) -> sp.csr_array:
    """A row of ``bank`` for each node, drawn without replacement from the class of the same rank by size."""
    ranks = zip(_by_size(np.bincount(y)), _by_size(_sizes(bank)), strict=False)
    rows = np.empty(len(y), np.int64)
    for own, theirs in ranks:
        members = np.flatnonzero(y == own)
        rows[members] = rng.permutation(np.flatnonzero(bank.y.numpy() == theirs))[: len(members)]
    return feature_matrix(bank.x)[rows]


def _topic_model(y: np.ndarray, rng: np.random.Generator) -> sp.csr_array:
    """Binary bags of words: half of a node's words are common to all classes, half are specific to its class.

    Common words follow Zipf's law; a class's distribution is a Dirichlet draw around it.
    """
    zipf = 1 / np.arange(1, _WORDS + 1)
    common = zipf / zipf.sum()
    lengths = 1 + rng.poisson(_LENGTH - 1, size=len(y))
    rows, own = np.repeat(np.arange(len(y)), lengths), np.repeat(y, lengths)
    words = rng.choice(_WORDS, size=len(rows), p=common)
    for topic in range(y.max() + 1):
        special = np.flatnonzero((own == topic) & (rng.random(len(rows)) < 0.5))
        words[special] = rng.choice(_WORDS, size=len(special), p=rng.dirichlet(100 * common))
    x = sp.csr_array((np.ones(len(rows), np.float32), (rows, words)), shape=(len(y), _WORDS))
    x.data[:] = 1
    return x


def _sizes(graph: Data) -> np.ndarray:
    return np.bincount(graph.y[graph.y >= 0].numpy())


def _by_size(sizes: np.ndarray) -> np.ndarray:
    return np.argsort(-sizes, kind="stable")
