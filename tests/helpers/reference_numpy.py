"""The method once more, in nested loops: slow, float64, one function an equation, to compare the library with.

Shapes and symbols are the paper's: N nodes, K capsules below, C capsules above. `adjacency` is A, dense and symmetric.
Weights of a capsule layer are stored as ``weight[k, :, l, :] = W_kl^T``, those of the primary capsules as
``weight[k] = W_k``. A sparsification is None, ``("top-k", k)`` or ``("threshold", epsilon)``.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.linalg import expm

TIE = 1e-9  # entries that differ by less than this, relative to the limit, count as equal to it


class Routing(NamedTuple):
    """What algorithm 1 ends with: the last couplings c [N, K, C], u [N, C, f_c] and v = squash(u)."""

    couplings: np.ndarray
    u: np.ndarray
    capsules: np.ndarray


def normalized_adjacency(adjacency):
    """Ã = D̂^-1/2 Â D̂^-1/2 with Â = A + I (section 3.4, before eq. 4)."""
    n = len(adjacency)
    a_hat = adjacency + np.eye(n)
    degree = [sum(a_hat[i, j] for j in range(n)) for i in range(n)]
    a_tilde = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            a_tilde[i, j] = a_hat[i, j] / (math.sqrt(degree[i]) * math.sqrt(degree[j]))
    return a_tilde


def power(a_tilde, i):
    """Ã^i, with Ã^0 = I (eq. 4)."""
    result = np.eye(len(a_tilde))
    for _ in range(i):
        result = result @ a_tilde
    return result


def sparsified(matrix, sparsify):
    """Keep the large entries of each row, then normalise anew by the row sums on both sides (after eq. 4)."""
    if sparsify is None:
        return matrix
    kind, value = sparsify
    n = len(matrix)
    kept = np.zeros((n, n))
    for i in range(n):
        limit = value if kind == "threshold" else sorted(matrix[i], reverse=True)[min(value, n) - 1]
        for j in range(n):
            if matrix[i, j] >= limit * (1 - TIE):
                kept[i, j] = matrix[i, j]
    row_sum = [sum(kept[i, j] for j in range(n)) for i in range(n)]
    result = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if row_sum[i] > 0 and row_sum[j] > 0:
                result[i, j] = kept[i, j] / (math.sqrt(row_sum[i]) * math.sqrt(row_sum[j]))
    return result


def hop_weights(zeta):
    """ξ_i, the softmax over the hops (eq. 5)."""
    exponentials = [math.exp(z) for z in zeta]
    return np.array([e / sum(exponentials) for e in exponentials])


def attention_filter(adjacency, hops, zeta, sparsify=None):
    """Ā = Σ_{i∈M} ξ_i Ã^i, each power sparsified by itself (eq. 4 and 5); zeta follows the sorted hops."""
    a_tilde = normalized_adjacency(adjacency)
    a_bar = np.zeros_like(a_tilde)
    for xi, i in zip(hop_weights(zeta), sorted(hops), strict=True):
        a_bar += xi * sparsified(power(a_tilde, i), sparsify)
    return a_bar


def ppr_filter(adjacency, alpha, steps=None, sparsify=None):
    """Personalised PageRank: eq. 6 when steps is None, else the sum up to P = steps of eq. 7; sparsified at the end."""
    a_tilde = normalized_adjacency(adjacency)
    n = len(a_tilde)
    if steps is None:
        return sparsified(alpha * np.linalg.inv(np.eye(n) - (1 - alpha) * a_tilde), sparsify)
    a_bar = np.zeros((n, n))
    for i in range(steps + 1):
        a_bar += alpha * (1 - alpha) ** i * power(a_tilde, i)
    return sparsified(a_bar, sparsify)


def heat_filter(adjacency, time, steps=None, sparsify=None):
    """Heat kernel: eq. 4 with ξ_i = e^-t t^i / i!, whose infinite sum is exp(-t (I - Ã)); sparsified at the end."""
    a_tilde = normalized_adjacency(adjacency)
    n = len(a_tilde)
    if steps is None:
        return sparsified(expm(-time * (np.eye(n) - a_tilde)), sparsify)
    a_bar = np.zeros((n, n))
    for i in range(steps + 1):
        a_bar += math.exp(-time) * time**i / math.factorial(i) * power(a_tilde, i)
    return sparsified(a_bar, sparsify)


def primary_capsules(x, weight, bias):
    """h_i^(k) = relu(W_k x_i + b_k), scaled to unit length (eq. 3); a zero vector stays zero."""
    h = np.zeros((len(x), *bias.shape))
    for i in range(len(x)):
        for k in range(len(weight)):
            z = np.maximum(weight[k] @ x[i] + bias[k], 0.0)
            norm = math.sqrt(sum(z**2))
            if norm > 0:
                h[i, k] = z / norm
    return h


def squash(u):
    """One capsule's v = |u|^2 / (1 + |u|^2) * u / |u| (eq. 10), and squash(0) = 0."""
    norm = math.sqrt(sum(u**2))
    if norm == 0:
        return np.zeros_like(u)
    return norm**2 / (1 + norm**2) * u / norm


def capsule_layer(h, a_bar, weight, bias, iterations, beta=1.0, prior=None):
    """Algorithm 1 over all nodes: eq. 12, 8, 9, 10 and 13, `iterations` times; prior is b^(0)."""
    nodes, capsules_in = h.shape[:2]
    capsules_out, channels_out = bias.shape
    votes = np.zeros((nodes, capsules_in, capsules_out, channels_out))
    for j in range(nodes):
        for k in range(capsules_in):
            for l in range(capsules_out):
                votes[j, k, l] = weight[k, :, l, :].T @ h[j, k]

    b = np.zeros((nodes, capsules_in, capsules_out)) + (0.0 if prior is None else prior)
    c = np.zeros_like(b)
    u = np.zeros((nodes, capsules_out, channels_out))
    v = np.zeros_like(u)
    for _ in range(iterations):
        for j in range(nodes):
            for l in range(capsules_out):
                exponentials = np.exp(b[j, :, l] - max(b[j, :, l]))
                c[j, :, l] = exponentials / sum(exponentials)  # eq. 12
        for l in range(capsules_out):
            p = [sum(c[j, k, l] * votes[j, k, l] for k in range(capsules_in)) for j in range(nodes)]  # eq. 8
            for i in range(nodes):
                u[i, l] = sum(a_bar[i, j] * p[j] for j in range(nodes)) + bias[l]  # eq. 9
                v[i, l] = squash(u[i, l])  # eq. 10
        for j in range(nodes):
            for k in range(capsules_in):
                for l in range(capsules_out):
                    b[j, k, l] += beta * (v[j, l] @ votes[j, k, l])  # eq. 13
    return Routing(c, u, v)


def lengths(capsules):
    """Scores: the length of each class capsule (after eq. 9)."""
    return np.array([[math.sqrt(sum(v**2)) for v in node] for node in capsules])


def forward(x, a_bar, primary, layers, iterations, beta=1.0, prior=None):
    """Eq. 3 and algorithm 1, a layer's v being the next one's h; the prior is the class layer's.

    `primary` is (weight, bias), `layers` a sequence of them. Returns the scores and the class layer's routing.
    """
    capsules = primary_capsules(x, *primary)
    for weight, bias in layers[:-1]:
        capsules = capsule_layer(capsules, a_bar, weight, bias, iterations, beta).capsules
    weight, bias = layers[-1]
    routing = capsule_layer(capsules, a_bar, weight, bias, iterations, beta, prior)
    return lengths(routing.capsules), routing


def margin_loss(scores, y, m_plus=0.9, m_minus=0.2, lam=0.5):
    """Eq. 11, summed over the classes, its mean over the nodes given."""
    total = 0.0
    for i in range(len(scores)):
        for l in range(scores.shape[1]):
            if y[i] == l:
                total += max(0.0, m_plus - scores[i, l]) ** 2
            else:
                total += lam * max(0.0, scores[i, l] - m_minus) ** 2
    return total / len(scores)
