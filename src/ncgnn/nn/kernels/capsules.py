"""Fused primary capsules and votes, for training with dropout: dropped entries are skipped.

Has the same distribution as the plain operations in :class:`ncgnn.nn.capsules.PrimaryCapsules`, which are the
reference, and gives the same numbers for the same dropout mask.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ncgnn.sparse import pool
from ncgnn.sparse.kernels import Array, arrays, by_rows, inlined, threads_for
from ncgnn.sparse.operator import LinearOperator

_ROW_STEP = 0x632BE59BD9B4E019  # between the random states of two rows


def fused_votes(x: LinearOperator, w_dot: Tensor, b_dot: Tensor, weight: Tensor, dropout: float, seed: int) -> Tensor:
    r"""Votes :math:`\mathbf{W}_{kl} \mathbf{h}_j^{(k)}` [N, K, C, f_c] of capsules that dropout has thinned out.

    Args:
        x: node features [N, f].
        w_dot: first weights [f, K f_p].
        b_dot: first bias [K, f_p].
        weight: weights between capsules [K, f_p, C, f_c].
        dropout: dropout rate on capsule entries.
        seed: draws the dropout mask; see :func:`seed_of_row`.
    """
    votes: Tensor = _Votes.apply(w_dot, b_dot, weight, x, seed, dropout)
    return votes


def new_seed() -> int:
    return int(torch.randint(2**62, ()).item())


def seed_of_row(seed: int, row: int) -> int:
    """The seed with which a block that begins at this row has the dropout mask that it has in the whole."""
    wrapped = (seed + row * _ROW_STEP) % 2**64
    return wrapped - 2**64 if wrapped >= 2**63 else wrapped


def fused_capsules(x: LinearOperator, w_dot: Tensor, b_dot: Tensor) -> Tensor:
    """Unit capsules [N, K, f_p] without dropout (eq. 3)."""
    h: Tensor = _Capsules.apply(w_dot, b_dot, x)
    return h


def dense_votes(h: Tensor, weight: Tensor) -> Tensor:
    """Votes [N, K, C, f_c] of capsules [N, K, f_p] under ``weight`` [K, f_p, C, f_c], in the order that routing reads,
    with one product per capsule."""
    votes: Tensor = _DenseVotes.apply(h, weight)
    return votes


class _DenseVotes(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, h: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(h, weight)
        flat = weight.flatten(2)
        votes = pool.empty(h, *h.shape[:2], flat.shape[2])
        for k in range(len(flat)):
            torch.mm(h[:, k], flat[k], out=votes[:, k])
        return votes.view(*h.shape[:2], *weight.shape[2:])

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor]:
        h, weight = ctx.saved_tensors
        flat, grad = weight.flatten(2), grads[0].flatten(2)
        grad_h, grad_weight = pool.empty(h, *h.shape), torch.empty_like(flat)
        for k in range(len(flat)):
            torch.mm(grad[:, k], flat[k].t(), out=grad_h[:, k])
            torch.mm(h[:, k].t(), grad[:, k], out=grad_weight[k])
        return grad_h, grad_weight.view_as(weight)


class _Capsules(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, w_dot: Tensor, b_dot: Tensor, x: LinearOperator) -> Tensor:
        h = x.product(w_dot).view(-1, *b_dot.shape)
        norms = h.new_empty(h.shape[:2])
        _capsules(len(h), *arrays(h, b_dot, norms))
        ctx.save_for_backward(h, norms)
        ctx.x, ctx.w_dot = x, w_dot.detach()
        return h

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        h, norms = ctx.saved_tensors
        grad = pool.empty(h, *h.shape)
        sums = h.new_zeros(threads_for(h.numel()), *h.shape[1:])
        _capsules_backward(len(sums), *arrays(h, norms, grads[0], grad, sums))
        return ctx.x.gradients(ctx.w_dot, grad.flatten(1), False)[1], sums.sum(dim=0), None


class _Votes(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, w_dot: Tensor, b_dot: Tensor, weight: Tensor, x: LinearOperator, seed: int, dropout: float
    ) -> Tensor:
        capsules, size = b_dot.shape
        active = x.product(w_dot).view(-1, capsules, size)
        norms = active.new_empty(active.shape[:2])
        flat = weight.detach().flatten(2).contiguous()
        votes = pool.empty(active, *active.shape[:2], flat.shape[2])
        _votes(len(active), seed, dropout, *arrays(active, b_dot, flat, norms, votes))
        ctx.save_for_backward(active, norms, flat)
        ctx.x, ctx.w_dot, ctx.seed, ctx.dropout = x, w_dot.detach(), seed, dropout
        return votes.view(*active.shape[:2], *weight.shape[2:])

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        active, norms, flat = ctx.saved_tensors
        grad_votes = grads[0].flatten(2).contiguous()
        parts = threads_for(max(active.numel(), grad_votes.numel()))
        grad_weight, grad_bias = flat.new_zeros(parts, *flat.shape), flat.new_zeros(parts, *active.shape[1:])
        grad_active = pool.empty(active, *active.shape)
        tensors = (active, norms, flat, grad_votes, grad_active, grad_weight, grad_bias)
        _votes_backward(parts, ctx.seed, ctx.dropout, *arrays(*tensors))
        _, grad_w_dot = ctx.x.gradients(ctx.w_dot, grad_active.flatten(1), False)
        shape = (*flat.shape[:2], *grads[0].shape[2:])
        return grad_w_dot, grad_bias.sum(dim=0), grad_weight.sum(dim=0).view(shape), None, None, None


@by_rows
def _capsules(start: int, stop: int, h: Array, bias: Array, norms: Array) -> None:
    """``h`` becomes ``relu(h + bias)`` divided by its norm."""
    _, capsules, size = h.shape
    one = h.dtype.type(1)
    for j in range(start, stop):
        for k in range(capsules):
            norms[j, k] = _relu(h[j, k], bias[k])
            inverse = one / norms[j, k] if norms[j, k] > 0 else norms[j, k]
            for e in range(size):
                h[j, k, e] *= inverse


@by_rows
def _capsules_backward(
    start: int, stop: int, h: Array, norms: Array, grad_h: Array, grad: Array, grad_bias: Array
) -> None:
    n, capsules, size = h.shape
    parts = grad_bias.shape[0]
    one, zero = h.dtype.type(1), h.dtype.type(0)
    for part in range(start, stop):
        for j in range(part * n // parts, (part + 1) * n // parts):
            for k in range(capsules):
                inverse, along = (one / norms[j, k] if norms[j, k] > 0 else one), zero
                for e in range(size):
                    grad[j, k, e] = grad_h[j, k, e] * inverse
                    along += grad[j, k, e] * h[j, k, e]
                _through_norm(h[j, k], one, along, grad[j, k], grad_bias[part, k])


@by_rows
def _votes(
    start: int,
    stop: int,
    seed: int,
    dropout: float,
    active: Array,
    bias: Array,
    weight: Array,
    norms: Array,
    votes: Array,
) -> None:
    """``active`` becomes ``relu(active + bias)``; computes norms and the votes of the entries that dropout keeps."""
    _, capsules, size = active.shape
    scale, zero = active.dtype.type(1 / (1 - dropout)), active.dtype.type(0)
    rate = 1 / np.log(dropout) if dropout > 0 else 0.0
    for j in range(start, stop):
        state = _start(seed, j)
        for k in range(capsules):
            a, vote = active[j, k], votes[j, k]
            norms[j, k] = _relu(a, bias[k])
            factor = zero if norms[j, k] == 0 else scale / norms[j, k]
            vote[:] = 0
            e, state = _next_kept(-1, state, rate)
            while e < size:
                if a[e] != 0:
                    h, source = factor * a[e], weight[k, e]
                    for f in range(vote.shape[0]):
                        vote[f] += h * source[f]
                e, state = _next_kept(e, state, rate)


@by_rows
def _votes_backward(
    start: int,
    stop: int,
    seed: int,
    dropout: float,
    active: Array,
    norms: Array,
    weight: Array,
    grad_votes: Array,
    grad_active: Array,
    grad_weight: Array,
    grad_bias: Array,
) -> None:
    """Gradients of the votes; redraws the dropout mask instead of storing it. Each thread sums its own part."""
    n, capsules, size = active.shape
    parts = grad_weight.shape[0]
    scale = active.dtype.type(1 / (1 - dropout))
    one, zero = active.dtype.type(1), active.dtype.type(0)
    rate = 1 / np.log(dropout) if dropout > 0 else 0.0
    for part in range(start, stop):
        for j in range(part * n // parts, (part + 1) * n // parts):
            state = _start(seed, j)
            for k in range(capsules):
                a, g, target, along = active[j, k], grad_votes[j, k], grad_active[j, k], zero
                inverse = one / norms[j, k] if norms[j, k] > 0 else zero
                target[:] = 0
                e, state = _next_kept(-1, state, rate)
                while e < size:
                    if a[e] > 0:
                        h = scale * inverse * a[e]
                        target[e] = scale * _dot_and_add(weight[k, e], g, h, grad_weight[part, k, e])
                        along += target[e] * a[e] * inverse
                    e, state = _next_kept(e, state, rate)
                _through_norm(a, inverse, along, target, grad_bias[part, k])


@inlined
def _relu(a: Array, bias: Array) -> Any:
    """``a = relu(a + bias)``; its norm."""
    square, zero = a.dtype.type(0), a.dtype.type(0)  # an integer would make it double precision
    for e in range(a.shape[0]):
        z = a[e] + bias[e]
        z = zero if z <= zero else z  # keeps a NaN
        a[e] = z
        square += z * z
    return np.sqrt(square)


@inlined
def _dot_and_add(row: Array, g: Array, h: float, sums: Array) -> Any:
    """``row . g``, and ``sums += h g``."""
    total = g.dtype.type(0)
    for f in range(g.shape[0]):
        total += row[f] * g[f]
        sums[f] += h * g[f]
    return total


@inlined
def _through_norm(a: Array, inverse: float, along: float, target: Array, bias_sums: Array) -> None:
    """Backpropagate ``target`` through the normalisation and the ReLU: the component along the capsule vanishes."""
    factor = along * inverse
    for e in range(a.shape[0]):
        value = (target[e] - factor * a[e]) * inverse
        value = value if a[e] > 0 else a.dtype.type(0)
        target[e] = value
        bias_sums[e] += value


@inlined
def _next_kept(e: int, state: Any, rate: float) -> Any:
    """The next entry that dropout keeps: the gaps between them have a geometric distribution. ``rate`` is the inverse
    of the logarithm of the probability to drop, 0 if nothing is dropped."""
    if rate == 0:
        return e + 1, state
    state, bits = _random(state)
    uniform = (float(bits >> np.uint64(11)) + 1) * 2.0**-53  # in (0, 1]
    return e + 1 + int(min(np.log(uniform) * rate, 1e9)), state


@inlined
def _start(seed: int, row: int) -> Any:
    """Random state of one row, far from those of other rows."""
    _, bits = _random(np.uint64(seed) + np.uint64(row) * np.uint64(_ROW_STEP))
    return bits


@inlined
def _random(state: Any) -> Any:
    """SplitMix64: the next state and 64 random bits."""
    state = state + np.uint64(0x9E3779B97F4A7C15)
    z = state
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state, z ^ (z >> np.uint64(31))
