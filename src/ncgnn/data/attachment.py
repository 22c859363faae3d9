"""Preferential attachment with a fixed share of edges within classes."""

from itertools import accumulate

import numpy as np


def attach(y: np.ndarray, homophily: float, per_node: int, rng: np.random.Generator) -> np.ndarray:
    """Edges (new node, earlier node) of a graph that grows node by node, shape (edges, 2).

    Whether an edge stays within its class is drawn from an urn, so that the share comes out exactly as long as there
    is a node to link to either way.
    """
    graph = _Growth(y.tolist(), rng)
    new_ends = np.repeat(np.arange(len(y)), _edge_counts(len(y), per_node)).tolist()
    within = round(homophily * len(new_ends))
    for left, node in zip(range(len(new_ends), 0, -1), new_ends, strict=True):
        within -= graph.link(node, within=rng.random() * left < within)
    return np.array(graph.edges)


def _edge_counts(num_nodes: int, per_node: int) -> list[int]:
    """New edges of each node: none for the first, one for the few that start the graph, then ``per_node``."""
    start = min(num_nodes, 5 * per_node + 1)
    return [0] + [1] * (start - 1) + [per_node] * (num_nodes - start)


class _Growth:
    """The graph so far. A pool holds the nodes of a class, each as often as its degree: a uniform draw follows it."""

    def __init__(self, classes: list[int], rng: np.random.Generator) -> None:
        self.classes, self.rng = classes, rng
        self.edges: list[tuple[int, int]] = []
        self.pools: list[list[int]] = [[] for _ in range(max(classes) + 1)]
        self.earlier = [0] * len(self.pools)  # nodes of each class that arrived before the newest
        self.newest = 0
        self.linked: list[int] = [0]  # the first node starts with one end, or nothing could link to it

    def link(self, node: int, within: bool) -> bool:
        """Link ``node`` to an earlier one, within its class as asked if there is one; return whether it is."""
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
        """Weight of a class: its total degree, over the circular distance between class numbers."""
        distance = abs(self.classes[self.newest] - other)
        if within or distance == 0:
            return float(within and distance == 0)
        return len(self.pools[other]) / min(distance, len(self.pools) - distance)
