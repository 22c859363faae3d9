"""The method of `reference_numpy` in plain dense torch, for its gradients: autograd through every operation.

Function names, arguments and shapes are those of `reference_numpy`.
"""

import math
from typing import NamedTuple

import torch

TIE = 1e-9  # entries that differ by less than this, relative to the limit, count as equal to it


class Routing(NamedTuple):
    """What algorithm 1 ends with: the last couplings c [N, K, C], u [N, C, f_c] and v = squash(u)."""

    couplings: torch.Tensor
    u: torch.Tensor
    capsules: torch.Tensor


def edge_list(adjacency):
    """A dense adjacency as (edge_index [2, E], edge_weight [E])."""
    adjacency = torch.as_tensor(adjacency, dtype=torch.float64)
    edge_index = adjacency.nonzero().T.contiguous()
    return edge_index, adjacency[edge_index[0], edge_index[1]]


def normalized_adjacency(adjacency):
    """Ã = D̂^-1/2 Â D̂^-1/2 with Â = A + I."""
    a_hat = torch.as_tensor(adjacency, dtype=torch.float64) + torch.eye(len(adjacency), dtype=torch.float64)
    scale = torch.diag(a_hat.sum(1) ** -0.5)
    return scale @ a_hat @ scale


def sparsified(matrix, sparsify):
    """Keep the large entries of each row, then normalise anew by the row sums on both sides."""
    if sparsify is None:
        return matrix
    kind, value = sparsify
    if kind == "threshold":
        limit = torch.full_like(matrix[:, :1], value)
    else:
        limit = matrix.topk(min(value, len(matrix)), dim=1).values[:, -1:]
    kept = torch.where(matrix >= limit * (1 - TIE), matrix, torch.zeros_like(matrix))
    row_sum = kept.sum(1)
    scale = torch.diag(torch.where(row_sum > 0, row_sum.clamp(min=1e-300) ** -0.5, torch.zeros_like(row_sum)))
    return scale @ kept @ scale


def attention_filter(adjacency, hops, zeta, sparsify=None):
    """Ā = Σ_{i∈M} ξ_i Ã^i (eq. 4 and 5), differentiable in zeta, which follows the sorted hops."""
    a_tilde = normalized_adjacency(adjacency)
    xi = torch.exp(zeta) / torch.exp(zeta).sum()
    a_bar = torch.zeros_like(a_tilde)
    for position, i in enumerate(sorted(hops)):
        a_bar = a_bar + xi[position] * sparsified(torch.linalg.matrix_power(a_tilde, i), sparsify)
    return a_bar


def series(a_tilde, coefficients):
    """Σ_i ξ_i Ã^i for i = 0, 1, ... (eq. 4)."""
    return sum(xi * torch.linalg.matrix_power(a_tilde, i) for i, xi in enumerate(coefficients))


def ppr_filter(adjacency, alpha, steps=None, sparsify=None):
    """Personalised PageRank (eq. 6), truncated after P = steps (eq. 7)."""
    a_tilde = normalized_adjacency(adjacency)
    identity = torch.eye(len(a_tilde), dtype=torch.float64)
    if steps is None:
        return sparsified(torch.linalg.solve(identity - (1 - alpha) * a_tilde, alpha * identity), sparsify)
    return sparsified(series(a_tilde, [alpha * (1 - alpha) ** i for i in range(steps + 1)]), sparsify)


def heat_filter(adjacency, time, steps=None, sparsify=None):
    """Heat kernel exp(-t (I - Ã)), or its series e^-t t^i / i! up to i = steps."""
    a_tilde = normalized_adjacency(adjacency)
    if steps is None:
        identity = torch.eye(len(a_tilde), dtype=torch.float64)
        return sparsified(torch.linalg.matrix_exp(-time * (identity - a_tilde)), sparsify)
    xi = [math.exp(-time) * time**i / math.factorial(i) for i in range(steps + 1)]
    return sparsified(series(a_tilde, xi), sparsify)


def norm(vectors):
    """Lengths along the last axis [..., 1]; the derivative at the zero vector is zero."""
    squared = (vectors**2).sum(-1, keepdim=True)
    positive = squared > 0
    root = torch.sqrt(torch.where(positive, squared, torch.ones_like(squared)))
    return torch.where(positive, root, torch.zeros_like(root))


def unit(vectors):
    """Vectors divided by their lengths; zero vectors stay zero."""
    length = norm(vectors)
    return vectors / torch.where(length > 0, length, torch.ones_like(length))


def primary_capsules(x, weight, bias):
    """h^(k) = relu(W_k x + b_k), scaled to unit length (eq. 3)."""
    return torch.stack([unit(torch.relu(x @ weight[k].T + bias[k])) for k in range(len(weight))], dim=1)


def squash(u):
    """v = |u|^2 / (1 + |u|^2) * u / |u| (eq. 10)."""
    squared = (u**2).sum(-1, keepdim=True)
    return squared / (1 + squared) * unit(u)


def capsule_layer(h, a_bar, weight, bias, iterations, beta=1.0, prior=None):
    """Algorithm 1: eq. 12, 8, 9, 10 and 13, `iterations` times; prior is b^(0)."""
    nodes, capsules_in = h.shape[:2]
    capsules_out = len(bias)
    votes = [[h[:, k] @ weight[k, :, l, :] for l in range(capsules_out)] for k in range(capsules_in)]
    b = torch.zeros(nodes, capsules_in, capsules_out, dtype=torch.float64)
    if prior is not None:
        b = b + prior
    for _ in range(iterations):
        c = torch.exp(b - b.max(dim=1, keepdim=True).values)
        c = c / c.sum(dim=1, keepdim=True)
        u = []
        for l in range(capsules_out):
            p = sum(c[:, k, l, None] * votes[k][l] for k in range(capsules_in))
            u.append(a_bar @ p + bias[l])
        v = [squash(u_l) for u_l in u]
        agreement = [
            torch.stack([(v[l] * votes[k][l]).sum(-1) for l in range(capsules_out)], dim=-1) for k in range(capsules_in)
        ]
        b = b + beta * torch.stack(agreement, dim=1)
    return Routing(c, torch.stack(u, dim=1), torch.stack(v, dim=1))


def forward(x, a_bar, primary, layers, iterations, beta=1.0, prior=None):
    """Scores and the class layer's routing; a layer's v is the next one's h, the prior is the class layer's."""
    capsules = primary_capsules(x, *primary)
    for weight, bias in layers[:-1]:
        capsules = capsule_layer(capsules, a_bar, weight, bias, iterations, beta).capsules
    weight, bias = layers[-1]
    routing = capsule_layer(capsules, a_bar, weight, bias, iterations, beta, prior)
    return norm(routing.capsules).squeeze(-1), routing


def margin_loss(scores, y, m_plus=0.9, m_minus=0.2, lam=0.5):
    """Eq. 11, summed over the classes, its mean over the nodes given."""
    target = torch.eye(scores.shape[1], dtype=scores.dtype)[y]
    present = target * torch.relu(m_plus - scores) ** 2
    absent = lam * (1 - target) * torch.relu(scores - m_minus) ** 2
    return (present + absent).sum(dim=1).mean()
