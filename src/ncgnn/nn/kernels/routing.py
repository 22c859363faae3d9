"""Fused algorithm 1: votes are read once per iteration, and without a prior nothing of their size is allocated.

Gives the same numbers as the plain operations in :func:`ncgnn.nn.routing.route`, which are the reference.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ncgnn.nn.kernels.exponential import exp
from ncgnn.sparse import pool
from ncgnn.sparse.kernels import Array, arrays, by_rows, inlined
from ncgnn.sparse.operator import LinearOperator

_PARAMETERS = 9  # number of arguments of a route before the parameters of its filters


def fused_route(
    votes: Tensor,
    a_bar: LinearOperator | Sequence[LinearOperator],
    bias: Tensor,
    iterations: int,
    beta: float,
    prior: Tensor | None,
    sizes: Sequence[int] | None = None,
    last: LinearOperator | Sequence[LinearOperator] | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """``v`` [N, C, f_c], ``c`` [N, K, C], which carries no gradient, and ``u`` [N, C, f_c]. With several filters,
    ``sizes`` holds the number of capsules of each. With ``last``, rows of the filters, ``v`` and ``u`` are those of
    these rows."""
    filters = list(a_bar) if isinstance(a_bar, Sequence) else [a_bar]
    final = [] if last is None else list(last) if isinstance(last, Sequence) else [last]
    group = torch.arange(len(filters)).repeat_interleave(torch.tensor(sizes or [votes.shape[1]]))
    b = None if prior is None else prior.expand(votes.shape[:-1])
    kept = iterations if torch.is_grad_enabled() else 1  # the backward pass needs the results of every iteration
    parameters = (a.parameter for a in [*filters, *final])
    v, c, u = _Route.apply(votes, bias, b, filters, final, group, iterations, kept, beta, *parameters)
    return v, c, u


class _Route(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        votes: Tensor,
        bias: Tensor,
        prior: Tensor | None,
        filters: list[LinearOperator],
        final: list[LinearOperator],
        group: Tensor,
        iterations: int,
        kept: int,
        beta: float,
        *parameters: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        n, capsules, classes, size = votes.shape
        votes = votes.detach().contiguous()
        c = pool.empty(votes, kept, n, capsules, classes)
        u = pool.empty(votes, max(kept - 1, min(iterations - 1, 1)), n, classes, size)
        p = pool.empty(votes, kept, len(filters), n, classes, size)
        b = pool.empty(votes, n, capsules, classes).zero_()
        if prior is None:
            c[0] = 1 / capsules
            _mean(n, *arrays(group, votes, p[0]))
        else:
            b.copy_(prior)
            c[0] = b.softmax(dim=1)
            _select(n, *arrays(group, votes, c[0], p[0]))
        for t in range(1, iterations):
            now, before = t % kept, (t - 1) % kept
            message = _message(filters, p[before])
            _agree_and_select(n, beta, *arrays(group, votes, message, bias, u[(t - 1) % len(u)], b, c[now], p[now]))
        message = _message(final or filters, p[-1])
        last_u, v = (pool.empty(votes, *message.shape) for _ in range(2))
        _squash(len(message), *arrays(message, bias, last_u, v))
        ctx.save_for_backward(votes, c, p, u, last_u)
        ctx.filters, ctx.final, ctx.group, ctx.beta = filters, final, group, beta
        last_c = c[0] if kept == 1 else c[-1].clone()
        ctx.mark_non_differentiable(last_c)
        ctx.set_materialize_grads(False)
        return v, last_c, last_u

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor | None) -> tuple[Tensor | None, ...]:
        grad_v, _, grad_of_u = grads
        votes, c, p, u, last_u = ctx.saved_tensors
        iterations, _, n, classes, size = p.shape
        grad_p, grad_b, grad_votes = (pool.empty(like, *like.shape) for like in (p, c, votes))
        grad_u = torch.zeros_like(last_u)
        if grad_v is not None:
            _squash_backward(len(last_u), *arrays(last_u, grad_v, grad_u))
        if grad_of_u is not None:
            grad_u += grad_of_u
        of_bias, later = u.new_zeros(classes, size), torch.zeros_like(c[0])
        of_parameters: list[Tensor | None] = [None] * len(ctx.filters + ctx.final)
        for t in reversed(range(iterations)):
            of_bias += grad_u.sum(dim=0)
            is_final = t == iterations - 1 and ctx.final
            first, filters = (len(ctx.filters), ctx.final) if is_final else (0, ctx.filters)
            for g, a_bar in enumerate(filters):
                is_learned = ctx.needs_input_grad[_PARAMETERS + first + g]
                parameter, of_p = a_bar.gradients(p[t, g].flatten(1), grad_u.flatten(1), is_learned)
                of_parameters[first + g] = sum_of(of_parameters[first + g], parameter)
                grad_p[t, g] = of_p.view(n, classes, size)
            if t > 0:
                grad_u = pool.empty(votes, n, classes, size) if is_final else grad_u
                _agree_and_select_backward(
                    n, ctx.beta, *arrays(ctx.group, votes, c[t], grad_p[t], later, grad_b[t], u[t - 1], grad_u)
                )
                later = grad_b[t]
            elif ctx.needs_input_grad[2]:
                _select_backward(n, *arrays(ctx.group, votes, c[0], grad_p[0], later, grad_b[0]))
        _votes_gradient(n, ctx.beta, *arrays(ctx.group, c, grad_p, grad_b, u, grad_votes))
        of_prior = grad_b[0] if ctx.needs_input_grad[2] else None
        return grad_votes, of_bias, of_prior, None, None, None, None, None, None, *of_parameters


def sum_of(total: Tensor | None, found: Tensor | None) -> Tensor | None:
    """``None`` counts as nothing."""
    return found if total is None or found is None else total + found


def _message(filters: list[LinearOperator], p: Tensor) -> Tensor:
    """What arrives at each node, from all groups together [N, C, f_c]."""
    total = filters[0].product(p[0].flatten(1))
    for a_bar, said in zip(filters[1:], p[1:], strict=True):
        total = total + a_bar.product(said.flatten(1))
    return total.view(-1, *p.shape[2:])


@by_rows
def _mean(start: int, stop: int, group: Array, votes: Array, p: Array) -> None:
    """Equations 12 and 8 for b = 0."""
    _, capsules, classes, size = votes.shape
    share = votes.dtype.type(1) / votes.dtype.type(capsules)
    for j in range(start, stop):
        for k in range(capsules):
            g = group[k]
            if k == 0 or g != group[k - 1]:
                for l in range(classes):
                    for f in range(size):
                        p[g, j, l, f] = share * votes[j, k, l, f]
            else:
                for l in range(classes):
                    for f in range(size):
                        p[g, j, l, f] += share * votes[j, k, l, f]


@by_rows
def _select(start: int, stop: int, group: Array, votes: Array, c: Array, p: Array) -> None:
    """Equation 8."""
    for j in range(start, stop):
        _select_node(j, group, votes, c, p)


@by_rows
def _agree_and_select(
    start: int,
    stop: int,
    beta: float,
    group: Array,
    votes: Array,
    message: Array,
    bias: Array,
    u: Array,
    b: Array,
    c: Array,
    p: Array,
) -> None:
    """``u = message + bias`` (eq. 9) and ``b += beta squash(u) . votes`` (eq. 10, 13), then ``c = softmax_k b``
    (eq. 12) and ``p = sum_k c votes`` (eq. 8)."""
    _, capsules, classes, size = votes.shape
    work = np.empty(classes, votes.dtype)
    for j in range(start, stop):
        for l in range(classes):
            square = votes.dtype.type(0)
            for f in range(size):
                u[j, l, f] = message[j, l, f] + bias[l, f]
                square += u[j, l, f] * u[j, l, f]
            work[l] = votes.dtype.type(beta) * _squashing(square)
        for k in range(capsules):
            for l in range(classes):
                agreement = votes.dtype.type(0)
                for f in range(size):
                    agreement += u[j, l, f] * votes[j, k, l, f]
                b[j, k, l] += work[l] * agreement
        _softmax(j, b, c)
        _select_node(j, group, votes, c, p)


@by_rows
def _squash(start: int, stop: int, message: Array, bias: Array, u: Array, v: Array) -> None:
    """``u = message + bias`` (eq. 9) and ``v = squash(u)`` (eq. 10)."""
    _, classes, size = message.shape
    for i in range(start, stop):
        for l in range(classes):
            square = message.dtype.type(0)
            for f in range(size):
                u[i, l, f] = message[i, l, f] + bias[l, f]
                square += u[i, l, f] * u[i, l, f]
            s = _squashing(square)
            for f in range(size):
                v[i, l, f] = s * u[i, l, f]


@by_rows
def _squash_backward(start: int, stop: int, u: Array, grad_v: Array, grad_u: Array) -> None:
    for i in range(start, stop):
        for l in range(u.shape[1]):
            _through_squash(i, l, u, grad_v, grad_u)


@by_rows
def _agree_and_select_backward(
    start: int,
    stop: int,
    beta: float,
    group: Array,
    votes: Array,
    c: Array,
    grad_p: Array,
    later: Array,
    grad_b: Array,
    u: Array,
    grad_u: Array,
) -> None:
    """Gradients of this iteration's b, and of the previous iteration's u, which b was updated with."""
    _, capsules, classes, size = votes.shape
    for j in range(start, stop):
        _select_node_backward(j, group, votes, c, grad_p, later, grad_b)
        for l in range(classes):
            for f in range(size):
                grad_u[j, l, f] = 0
        for k in range(capsules):
            for l in range(classes):
                factor = votes.dtype.type(beta) * grad_b[j, k, l]
                for f in range(size):
                    grad_u[j, l, f] += factor * votes[j, k, l, f]
        for l in range(classes):
            _through_squash(j, l, u, grad_u, grad_u)


@by_rows
def _select_backward(
    start: int, stop: int, group: Array, votes: Array, c: Array, grad_p: Array, later: Array, grad_b: Array
) -> None:
    for j in range(start, stop):
        _select_node_backward(j, group, votes, c, grad_p, later, grad_b)


@by_rows
def _votes_gradient(
    start: int, stop: int, beta: float, group: Array, c: Array, grad_p: Array, grad_b: Array, u: Array, out: Array
) -> None:
    """``sum_t c_t grad_p_t + beta grad_b_{t+1} v_t``: through the selections and through the agreements."""
    iterations, _, capsules, classes = c.shape
    size = u.shape[3]
    for j in range(start, stop):
        for l in range(classes):
            for k in range(capsules):
                g = group[k]
                for f in range(size):
                    out[j, k, l, f] = c[iterations - 1, j, k, l] * grad_p[iterations - 1, g, j, l, f]
            for t in range(iterations - 1):
                square = u.dtype.type(0)
                for f in range(size):
                    square += u[t, j, l, f] * u[t, j, l, f]
                factor = u.dtype.type(beta) * _squashing(square)  # beta v = factor u
                for k in range(capsules):
                    g, first, second = group[k], c[t, j, k, l], factor * grad_b[t + 1, j, k, l]
                    for f in range(size):
                        out[j, k, l, f] += first * grad_p[t, g, j, l, f] + second * u[t, j, l, f]


@inlined
def _squashing(square: Any) -> Any:
    """The factor s of ``squash(u) = s u``, from the square of the length of u."""
    return np.sqrt(square) / (np.float32(1) + square)  # an integer would make it double precision


@inlined
def _select_node(j: int, group: Array, votes: Array, c: Array, p: Array) -> None:
    """The messages of a node, one of each group."""
    _, capsules, classes, size = votes.shape
    for k in range(capsules):
        g = group[k]
        if k == 0 or g != group[k - 1]:
            for l in range(classes):
                for f in range(size):
                    p[g, j, l, f] = c[j, k, l] * votes[j, k, l, f]
        else:
            for l in range(classes):
                for f in range(size):
                    p[g, j, l, f] += c[j, k, l] * votes[j, k, l, f]


@inlined
def _softmax(j: int, b: Array, c: Array) -> None:
    """Over the capsules."""
    _, capsules, classes = b.shape
    for l in range(classes):
        largest = b[j, 0, l]
        for k in range(1, capsules):
            largest = max(largest, b[j, k, l])
        for k in range(capsules):
            c[j, k, l] = b[j, k, l] - largest
    row = c[j].reshape(capsules * classes)  # in one piece, for the vector unit
    for m in range(row.shape[0]):
        row[m] = exp(row[m])
    for l in range(classes):
        total = c[j, 0, l]
        for k in range(1, capsules):
            total += c[j, k, l]
        for k in range(capsules):
            c[j, k, l] /= total


@inlined
def _select_node_backward(
    j: int, group: Array, votes: Array, c: Array, grad_p: Array, later: Array, grad_b: Array
) -> None:
    """Gradient of b: that of the later iteration, plus what came through the softmax."""
    _, capsules, classes, size = votes.shape
    for k in range(capsules):
        g = group[k]
        for l in range(classes):
            total = votes.dtype.type(0)
            for f in range(size):
                total += grad_p[g, j, l, f] * votes[j, k, l, f]
            grad_b[j, k, l] = total
    for l in range(classes):
        mean = votes.dtype.type(0)
        for k in range(capsules):
            mean += c[j, k, l] * grad_b[j, k, l]
        for k in range(capsules):
            grad_b[j, k, l] = later[j, k, l] + c[j, k, l] * (grad_b[j, k, l] - mean)


@inlined
def _through_squash(i: int, l: int, u: Array, grad_v: Array, grad_u: Array) -> None:
    """With ``v = s u`` and ``s = r / (1 + r^2)``, ``r = |u|``: ``grad_u = s g + s'(r) / r (u . g) u``."""
    one, square, along = u.dtype.type(1), u.dtype.type(0), u.dtype.type(0)
    for f in range(u.shape[2]):
        square += u[i, l, f] * u[i, l, f]
        along += u[i, l, f] * grad_v[i, l, f]
    s = _squashing(square)
    slope = (one - square) / ((one + square) * (one + square)) / np.sqrt(square) * along if square > 0 else one * 0
    for f in range(u.shape[2]):
        grad_u[i, l, f] = s * grad_v[i, l, f] + slope * u[i, l, f]
