"""Attention over the entries of a sparse matrix, as in GAT: a softmax in each row and head, and the weighted sum."""

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ncgnn.sparse.csr import Pattern
from ncgnn.sparse.kernels import Array, arrays, by_rows


def attend(h: Tensor, to: Tensor, of: Tensor, pattern: Pattern, slope: float, kept: Tensor | None = None) -> Tensor:
    r""":math:`\sum_j \alpha_{ij}^k \mathbf{h}_j^k` [N, heads, width] with :math:`\alpha_{ij}^k = \mathrm{softmax}_j\,
    \mathrm{LeakyReLU}(s_i^k + t_j^k)` over the entries (i, j) of the pattern.

    Args:
        h: features of the heads [N, heads, width].
        to: s, the score of the node that attends [N, heads].
        of: t, the score of the node that is attended to [N, heads].
        pattern: a row for each node that attends.
        slope: of the LeakyReLU below zero.
        kept: factors of the attention [entries, heads], for dropout.
    """
    if h.device.type != "cpu":
        return attend_plain(h, to, of, pattern, slope, kept)
    out: Tensor = _Attend.apply(h, to, of, pattern, slope, kept)
    return out


def attend_plain(
    h: Tensor, to: Tensor, of: Tensor, pattern: Pattern, slope: float, kept: Tensor | None = None
) -> Tensor:
    """The same in plain operations, for other devices."""
    counts, columns = pattern.indptr.diff(), pattern.indices.long()
    rows = torch.repeat_interleave(torch.arange(pattern.num_rows, device=h.device), counts)
    scores = torch.nn.functional.leaky_relu(to[rows] + of[columns], slope)
    index = rows[:, None].expand_as(scores)
    most = scores.detach().new_full(to.shape, float("-inf")).scatter_reduce(0, index, scores.detach(), "amax")
    weight = (scores - most[rows]).exp()
    weight = weight / torch.zeros_like(to).index_add(0, rows, weight)[rows]
    weight = weight if kept is None else weight * kept
    out = h.new_zeros(pattern.num_rows, *h.shape[1:])
    return out.index_add(0, rows, weight.unsqueeze(-1) * h[columns])


class _Attend(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, h: Tensor, to: Tensor, of: Tensor, pattern: Pattern, slope: float, kept: Tensor | None
    ) -> Tensor:
        alpha = h.new_empty(pattern.indices.numel(), h.shape[1])
        out = h.new_empty(pattern.num_rows, *h.shape[1:])
        factors = _factors(alpha, kept)
        parts = arrays(pattern.indptr, pattern.indices, h, to, of, factors, alpha, out)
        _forward(pattern.num_rows, slope, kept is not None, *parts, work=alpha.numel() * h.shape[2])
        ctx.save_for_backward(h, to, of, factors, alpha)
        ctx.pattern, ctx.slope, ctx.has_factors = pattern, slope, kept is not None
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        h, to, of, factors, alpha = ctx.saved_tensors
        pattern, grad = ctx.pattern, grads[0].contiguous()
        d_scores, d_to, d_of, d_h = (like.new_empty(like.shape) for like in (alpha, to, of, h))
        rest = (ctx.slope, ctx.has_factors)
        work = alpha.numel() * h.shape[2]
        parts = arrays(pattern.indptr, pattern.indices, h, to, of, factors, alpha, grad)
        _backward_rows(pattern.num_rows, *rest, *parts, *arrays(d_scores, d_to), work=work)
        flipped, order = pattern.transpose
        parts = arrays(flipped.indptr, flipped.indices, order, factors, alpha, grad, d_scores)
        _backward_columns(flipped.num_rows, ctx.has_factors, *parts, *arrays(d_of, d_h), work=work)
        return d_h, d_to, d_of, None, None, None


def _factors(alpha: Tensor, kept: Tensor | None) -> Tensor:
    return alpha.new_empty(0, alpha.shape[1]) if kept is None else kept.to(alpha.dtype).contiguous()


@by_rows
def _forward(
    start: int,
    stop: int,
    slope: float,
    has_factors: bool,
    indptr: Array,
    indices: Array,
    h: Array,
    to: Array,
    of: Array,
    factors: Array,
    alpha: Array,
    out: Array,
) -> None:
    heads, width = h.shape[1], h.shape[2]
    most, total = np.empty(heads, h.dtype), np.empty(heads, h.dtype)
    for i in range(start, stop):
        out[i], most[:], total[:] = 0, -np.inf, 0
        for e in range(indptr[i], indptr[i + 1]):
            for k in range(heads):
                score = to[i, k] + of[indices[e], k]
                alpha[e, k] = score if score > 0 else slope * score
                most[k] = max(most[k], alpha[e, k])
        for e in range(indptr[i], indptr[i + 1]):
            for k in range(heads):
                alpha[e, k] = np.exp(alpha[e, k] - most[k])
                total[k] += alpha[e, k]
        for e in range(indptr[i], indptr[i + 1]):
            for k in range(heads):
                alpha[e, k] /= total[k]
                weight = alpha[e, k] * factors[e, k] if has_factors else alpha[e, k]
                if weight != 0:
                    for f in range(width):
                        out[i, k, f] += weight * h[indices[e], k, f]


@by_rows
def _backward_rows(
    start: int,
    stop: int,
    slope: float,
    has_factors: bool,
    indptr: Array,
    indices: Array,
    h: Array,
    to: Array,
    of: Array,
    factors: Array,
    alpha: Array,
    grad: Array,
    d_scores: Array,
    d_to: Array,
) -> None:
    heads, width = h.shape[1], h.shape[2]
    mean = np.empty(heads, h.dtype)
    for i in range(start, stop):
        d_to[i], mean[:] = 0, 0
        for e in range(indptr[i], indptr[i + 1]):
            for k in range(heads):
                d_alpha = grad.dtype.type(0)
                factor = factors[e, k] if has_factors else grad.dtype.type(1)
                if factor != 0:
                    for f in range(width):
                        d_alpha += grad[i, k, f] * h[indices[e], k, f]
                d_scores[e, k] = factor * d_alpha
                mean[k] += alpha[e, k] * factor * d_alpha
        for e in range(indptr[i], indptr[i + 1]):
            for k in range(heads):
                falls = to[i, k] + of[indices[e], k] <= 0
                d_scores[e, k] = alpha[e, k] * (d_scores[e, k] - mean[k]) * (slope if falls else 1.0)
                d_to[i, k] += d_scores[e, k]


@by_rows
def _backward_columns(
    start: int,
    stop: int,
    has_factors: bool,
    indptr: Array,
    indices: Array,
    order: Array,
    factors: Array,
    alpha: Array,
    grad: Array,
    d_scores: Array,
    d_of: Array,
    d_h: Array,
) -> None:
    heads, width = grad.shape[1], grad.shape[2]
    for j in range(start, stop):
        d_h[j] = 0
        d_of[j] = 0
        for place in range(indptr[j], indptr[j + 1]):
            i, e = indices[place], order[place]
            for k in range(heads):
                d_of[j, k] += d_scores[e, k]
                weight = alpha[e, k] * factors[e, k] if has_factors else alpha[e, k]
                if weight != 0:
                    for f in range(width):
                        d_h[j, k, f] += weight * grad[i, k, f]
