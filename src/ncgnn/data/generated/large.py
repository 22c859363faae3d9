"""Large graphs with features, a known homophily and a known law of degrees."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from torch_geometric.data import Data

from ncgnn.data.graph import both_directions, make_graph
from ncgnn.data.named.registry import LARGE
from ncgnn.errors import InputError
from ncgnn.memory import check_memory

_NODE, _FEATURE, _EDGE = 80, 6, 90  # bytes of memory for each, measured
_ROUNDS = 100  # of drawing edges again that were there already


def large_graph(
    num_nodes: int,
    num_edges: int | None = None,
    num_features: int = 64,
    num_classes: int = 10,
    homophily: float = 0.6,
    exponent: float = 2.5,
    signal: float = 0.2,
    seed: int = 0,
) -> Data:
    """Generate a graph of any size: a million nodes and five million edges take less than a minute.

    A degree-corrected block model. Degrees follow a power law, ``P(degree) ~ degree ** -exponent``, from one up to
    about the square root of all ends of edges. Exactly the fraction ``homophily`` of the edges is within classes, which
    have equal sizes. No node is isolated. The features of a node are those of its class, normally distributed, times
    ``signal``, plus standard normal noise.

    Args:
        num_nodes: number of nodes.
        num_edges: number of undirected edges, at least one per node; default: five per node.
        num_features: number of features.
        num_classes: number of classes.
        homophily: fraction of edges within a class, from 0 to 1.
        exponent: of the power law of degrees, above 2.
        signal: how much the features say about the class.
        seed: the graph is a function of the arguments.
    """
    edges = 5 * num_nodes if num_edges is None else num_edges
    _check(num_nodes, edges, num_features, num_classes, homophily, exponent)
    needed = num_nodes * (_NODE + _FEATURE * num_features) + _EDGE * edges
    check_memory(needed, f"a graph of {num_nodes} nodes and {edges} edges", "ask for a smaller one")
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(num_nodes) % num_classes)
    urn = _Urn.of(y, _propensities(num_nodes, edges, exponent, rng))
    pairs = _draw_edges(urn, edges, homophily, rng)
    centres = signal * rng.standard_normal((num_classes, num_features), dtype=np.float32)
    x = rng.standard_normal((num_nodes, num_features), dtype=np.float32)
    x += centres[y]
    return make_graph(f"{LARGE}:{num_nodes}", torch.from_numpy(x), both_directions(pairs)[0], torch.from_numpy(y))


class _Urn(NamedTuple):
    """Nodes in the order of their classes, to draw from with probability proportional to their propensity.

    Attributes:
        nodes: the nodes, class by class.
        upto: the propensities of all nodes up to and including each of ``nodes``.
        first: those of all nodes before each class, and of all nodes at the end.
        y: the class of each node.
    """

    nodes: np.ndarray
    upto: np.ndarray
    first: np.ndarray
    y: np.ndarray

    @classmethod
    def of(cls, y: np.ndarray, propensity: np.ndarray) -> "_Urn":
        nodes = np.argsort(y, kind="stable")
        upto = np.cumsum(propensity[nodes])
        return cls(nodes, upto, np.concatenate([[0.0], upto[np.cumsum(np.bincount(y)) - 1]]), y)

    def any(self, count: int, rng: np.random.Generator) -> np.ndarray:
        return self._at(np.sort(rng.random(count)) * self.first[-1])  # in order, memory is read in order

    def partners(self, nodes: np.ndarray, within: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Another end for each node, of its class or of any other class."""
        start, stop = self.first[self.y[nodes]], self.first[self.y[nodes] + 1]
        own = stop - start
        place = rng.random(len(nodes)) * np.where(within, own, self.first[-1] - own)
        return self._at(place + np.where(within, start, np.where(place >= start, own, 0)))

    def _at(self, place: np.ndarray) -> np.ndarray:
        found: np.ndarray = self.nodes[np.searchsorted(self.upto, place, side="right").clip(max=len(self.nodes) - 1)]
        return found


def _propensities(nodes: int, edges: int, exponent: float, rng: np.random.Generator) -> np.ndarray:
    """Of a Pareto distribution, cut where two nodes would be expected to share more than one edge."""
    drawn = (1 - rng.random(nodes)) ** (-1 / (exponent - 1))
    cut: np.ndarray = np.minimum(drawn, drawn.mean() * np.sqrt(2 * edges) * nodes / (2 * edges))
    return cut


def _draw_edges(urn: _Urn, count: int, homophily: float, rng: np.random.Generator) -> np.ndarray:
    """Different edges as sorted rows (smaller, larger); the first ones give every node an edge."""
    nodes, inside = len(urn.y), round(homophily * count)
    missing = rng.permutation(np.arange(count) < inside)  # whether each edge is within a class
    sources = np.concatenate([np.arange(nodes), urn.any(count - nodes, rng)])
    keys, is_linked = np.empty(0, np.int64), np.zeros(nodes, bool)
    for _ in range(_ROUNDS):
        keys, (left, right) = _with_new(keys, sources, urn.partners(sources, missing, rng), nodes)
        is_linked[left] = is_linked[right] = True
        found = int((urn.y[left] == urn.y[right]).sum())
        inside, outside = inside - found, count - len(keys) - (inside - found)
        if not inside + outside:
            return np.stack(np.divmod(keys, nodes), axis=1)
        missing = np.repeat([True, False], [inside, outside])
        lonely = np.flatnonzero(~is_linked)[: len(missing)]
        sources = np.concatenate([lonely, urn.any(len(missing) - len(lonely), rng)])
    raise InputError(f"{count} edges with homophily {homophily:g} do not fit between {nodes} nodes: ask for fewer")


def _with_new(
    keys: np.ndarray, sources: np.ndarray, targets: np.ndarray, nodes: int
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """The sorted keys of edges with those of new ones, and the two ends of these."""
    drawn = np.sort((np.minimum(sources, targets) * nodes + np.maximum(sources, targets))[sources != targets])
    drawn = drawn[np.diff(drawn, prepend=-1) > 0]  # ten times as fast as np.unique
    if len(keys):
        drawn = drawn[keys[np.searchsorted(keys, drawn).clip(max=len(keys) - 1)] != drawn]
    # a stable sort merges two sorted parts
    return np.sort(np.concatenate([keys, drawn]), kind="stable"), np.divmod(drawn, nodes)


def _check(nodes: int, edges: int, features: int, classes: int, homophily: float, exponent: float) -> None:
    if classes < 2 or nodes < 4 * classes or features < 1:
        raise InputError(
            f"a generated graph needs 2 classes, 4 nodes per class and a feature, or more, not {classes} classes,"
            f" {nodes} nodes and {features} features"
        )
    if edges < nodes:
        raise InputError(f"{edges} edges are too few for {nodes} nodes, each of which has one: ask for {nodes} or more")
    if not 0 <= homophily <= 1:
        raise InputError(f"homophily must be from 0 to 1, not {homophily}")
    if not exponent > 2:
        raise InputError(f"the exponent of the degrees must be above 2, not {exponent}: their mean would be infinite")


_SETTINGS = {  # what may follow the number of nodes in a name
    "edges": ("num_edges", int),
    "features": ("num_features", int),
    "classes": ("num_classes", int),
    "homophily": ("homophily", float),
    "exponent": ("exponent", float),
    "signal": ("signal", float),
    "seed": ("seed", int),
}


def large_arguments(name: str) -> dict[str, Any]:
    """The arguments of :func:`large_graph` in a name like ``large:100000,homophily=0.3,seed=1``."""
    first, *others = name.removeprefix(f"{LARGE}:").split(",")
    found: dict[str, Any] = {}
    try:
        found["num_nodes"] = int(first)
        found |= dict(_settings(others))
        if found["num_nodes"] < 1 or len(found) <= len(others):
            raise ValueError
    except (ValueError, KeyError):
        raise InputError(
            f"{name!r}: '{LARGE}:' must be followed by the number of nodes, and may be by {', '.join(_SETTINGS)}, as in"
            f" '{LARGE}:100000,edges=500000,homophily=0.3'"
        ) from None
    return found


def _settings(parts: list[str]) -> Iterator[tuple[str, int | float]]:
    for part in parts:
        key, _, value = part.partition("=")
        argument, kind = _SETTINGS[key.strip()]
        yield argument, kind(value)
