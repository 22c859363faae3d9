"""Poincaré embeddings (Nickel and Kiela, 2017): neighbours are close in the hyperbolic plane, other nodes far."""

import numpy as np
import scipy.sparse as sp

from ncgnn.sparse.kernels import compiled

_EPOCHS, _BURN_IN = 50, 10
_RATE = 0.3  # a tenth of it in the first epochs
_OTHERS = 10  # random nodes beside each neighbour
_EDGE = 1 - 1e-5  # of the disk


def poincare(a: sp.csr_array) -> np.ndarray:
    """Places of the nodes in the unit disk [N, 2], by Riemannian gradient descent."""
    draw = np.random.default_rng(0)
    places = draw.uniform(-1e-3, 1e-3, size=(a.shape[0], 2))
    edges = np.stack(sp.coo_array(a).coords, axis=1).astype(np.int64)
    for epoch in range(_EPOCHS):
        rate = _RATE / 10 if epoch < _BURN_IN else _RATE
        others = draw.integers(a.shape[0], size=(len(edges), _OTHERS))
        _epoch(places, draw.permutation(edges), others, rate)
    return places


@compiled
def _epoch(places: np.ndarray, edges: np.ndarray, others: np.ndarray, rate: float) -> None:
    """One step for each edge (u, v), down the gradient of -log(exp(-d(u, v)) / sum_w exp(-d(u, w))) over v and
    the random nodes w."""
    count = others.shape[1] + 1
    nodes, shares = np.empty(count, np.int64), np.empty(count)
    for e in range(edges.shape[0]):
        u = edges[e, 0]
        nodes[0] = edges[e, 1]
        nodes[1:] = others[e]
        total = 0.0
        for k in range(count):
            shares[k] = np.exp(-distance(places[u], places[nodes[k]]))
            total += shares[k]
        right, up = 0.0, 0.0
        for k in range(count):
            w = nodes[k]
            if w == u:
                continue
            strength = (1.0 if k == 0 else 0.0) - shares[k] / total
            of_u, of_w = slope(places[u], places[w]), slope(places[w], places[u])
            right += strength * of_u[0]
            up += strength * of_u[1]
            _move(places[w], strength * of_w[0], strength * of_w[1], rate)
        _move(places[u], right, up, rate)


@compiled
def distance(u: np.ndarray, v: np.ndarray) -> float:
    """In the Poincaré disk."""
    gap = (u[0] - v[0]) ** 2 + (u[1] - v[1]) ** 2
    return float(np.arccosh(1 + 2 * gap / ((1 - u[0] ** 2 - u[1] ** 2) * (1 - v[0] ** 2 - v[1] ** 2))))


@compiled
def slope(u: np.ndarray, v: np.ndarray) -> tuple[float, float]:
    """The derivative of the distance by u."""
    alpha, beta = 1 - u[0] ** 2 - u[1] ** 2, 1 - v[0] ** 2 - v[1] ** 2
    gap = (u[0] - v[0]) ** 2 + (u[1] - v[1]) ** 2
    gamma = 1 + 2 * gap / (alpha * beta)
    steep = 4 / (beta * np.sqrt(max(gamma**2 - 1, 1e-12)))
    along = (v[0] ** 2 + v[1] ** 2 - 2 * (u[0] * v[0] + u[1] * v[1]) + 1) / alpha**2
    return steep * (along * u[0] - v[0] / alpha), steep * (along * u[1] - v[1] / alpha)


@compiled
def _move(place: np.ndarray, right: float, up: float, rate: float) -> None:
    """A step against the gradient with the metric of the disk, which stays inside."""
    scale = rate * (1 - place[0] ** 2 - place[1] ** 2) ** 2 / 4
    place[0] -= scale * right
    place[1] -= scale * up
    length = np.sqrt(place[0] ** 2 + place[1] ** 2)
    if length > _EDGE:
        place[0] *= _EDGE / length
        place[1] *= _EDGE / length
