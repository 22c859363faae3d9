"""Algorithm 1 fused: the votes of a node are read once an iteration, and nothing of their size is made on the way.

Gives the same numbers as the plain operations in :func:`ncgnn.nn.routing.route`, which say what is computed.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ncgnn.sparse import pool
from ncgnn.sparse.kernels import Array, arrays, by_rows, inlined
from ncgnn.sparse.operator import LinearOperator


def fused_route(
    votes: Tensor, a_bar: LinearOperator, bias: Tensor, iterations: int, beta: float, prior: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    """``v`` [N, C, f_c], which carries the gradient, and ``c`` [N, K, C] and ``u`` [N, C, f_c], which do not."""
    b = None if prior is None else prior.expand(votes.shape[:-1])
    v, c, u = _Route.apply(votes, bias, b, a_bar.parameter, a_bar, iterations, beta)
    return v, c, u


class _Route(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        votes: Tensor,
        bias: Tensor,
        prior: Tensor | None,
        parameter: Tensor,
        a_bar: LinearOperator,
        iterations: int,
        beta: float,
    ) -> tuple[Tensor, Tensor, Tensor]:
        n, capsules, classes, size = votes.shape
        votes = votes.detach().contiguous()
        c = pool.empty(votes, iterations, n, capsules, classes)
        p, u = (pool.empty(votes, iterations, n, classes, size) for _ in range(2))
        v = votes.new_zeros(n, classes, size)
        b = votes.new_zeros(n, capsules, classes)
        if prior is not None:
            b.copy_(prior)
        for t in range(iterations):
            agreement = 0.0 if t == 0 else beta
            _select(n, agreement, *arrays(votes, v, b, c[t], p[t]))
            message = a_bar.product(p[t].view(n, -1))
            _squash(n, *arrays(message.view(n, classes, size), bias, u[t], v))
        ctx.save_for_backward(votes, c, p, u)
        ctx.a_bar, ctx.beta = a_bar, beta
        last_c, last_u = c[-1].clone(), u[-1].clone()
        ctx.mark_non_differentiable(last_c, last_u)
        return v, last_c, last_u

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        votes, c, p, u = ctx.saved_tensors
        iterations, n, classes, size = u.shape
        grad_p, grad_b, grad_votes = (pool.empty(like, *like.shape) for like in (u, c, votes))
        grad_v, grad_u, later = (
            grads[0].clone(memory_format=torch.contiguous_format),
            torch.empty_like(u[0]),
            torch.zeros_like(c[0]),
        )
        of_bias, of_parameter = torch.zeros_like(u[0, 0]), None
        for t in reversed(range(iterations)):
            _squash_backward(n, *arrays(u[t], grad_v, grad_u))
            of_bias += grad_u.sum(dim=0)
            parameter, of_p = ctx.a_bar.gradients(p[t].view(n, -1), grad_u.view(n, -1), ctx.needs_input_grad[3])
            of_parameter = parameter if of_parameter is None else of_parameter + parameter
            grad_p[t] = of_p.view(n, classes, size)
            _select_backward(n, ctx.beta, *arrays(votes, c[t], grad_p[t], later, grad_b[t], grad_v))
            later = grad_b[t]
        _votes_gradient(n, ctx.beta, *arrays(c, grad_p, grad_b, u, grad_votes))
        return grad_votes, of_bias, grad_b[0] if ctx.needs_input_grad[2] else None, of_parameter, None, None, None


@by_rows
def _select(start: int, stop: int, beta: float, votes: Array, v: Array, b: Array, c: Array, p: Array) -> None:
    """``b += beta v . votes`` (eq. 13), ``c = softmax_k b`` (eq. 12), ``p = sum_k c votes`` (eq. 8)."""
    _, capsules, classes, _ = votes.shape
    scale = votes.dtype.type(beta)
    for j in range(start, stop):
        if scale != 0:
            for k in range(capsules):
                for l in range(classes):
                    b[j, k, l] += scale * _dot(v[j, l], votes[j, k, l])
        _softmax(b[j], c[j])
        for l in range(classes):
            p[j, l] = 0
        for k in range(capsules):
            for l in range(classes):
                _add(c[j, k, l], votes[j, k, l], p[j, l])


@by_rows
def _squash(start: int, stop: int, message: Array, bias: Array, u: Array, v: Array) -> None:
    """``u = message + bias`` (eq. 9) and ``v = squash(u)`` (eq. 10)."""
    _, classes, size = message.shape
    one = message.dtype.type(1)
    for i in range(start, stop):
        for l in range(classes):
            square = message.dtype.type(0)
            for f in range(size):
                u[i, l, f] = message[i, l, f] + bias[l, f]
                square += u[i, l, f] * u[i, l, f]
            factor = np.sqrt(square) / (one + square)
            for f in range(size):
                v[i, l, f] = factor * u[i, l, f]


@by_rows
def _squash_backward(start: int, stop: int, u: Array, grad_v: Array, grad_u: Array) -> None:
    """With ``v = s u`` and ``s = r / (1 + r^2)``, ``r = |u|``: ``grad_u = s g + s'(r) / r (u . g) u``."""
    _, classes, size = u.shape
    one = u.dtype.type(1)
    for i in range(start, stop):
        for l in range(classes):
            square = _dot(u[i, l], u[i, l])
            along = _dot(u[i, l], grad_v[i, l])
            norm = np.sqrt(square)
            s = norm / (one + square)
            slope = (one - square) / ((one + square) * (one + square)) / norm * along if norm > 0 else one * 0
            for f in range(size):
                grad_u[i, l, f] = s * grad_v[i, l, f] + slope * u[i, l, f]


@by_rows
def _select_backward(
    start: int,
    stop: int,
    beta: float,
    votes: Array,
    c: Array,
    grad_p: Array,
    later: Array,
    grad_b: Array,
    grad_v: Array,
) -> None:
    """Gradient of b at this iteration, which is that of the later one plus what came through the softmax; and of
    the v that b was updated with."""
    _, capsules, classes, _ = votes.shape
    scale = votes.dtype.type(beta)
    for j in range(start, stop):
        for k in range(capsules):
            for l in range(classes):
                grad_b[j, k, l] = _dot(grad_p[j, l], votes[j, k, l])
        for l in range(classes):
            mean = votes.dtype.type(0)
            for k in range(capsules):
                mean += c[j, k, l] * grad_b[j, k, l]
            for k in range(capsules):
                grad_b[j, k, l] = later[j, k, l] + c[j, k, l] * (grad_b[j, k, l] - mean)
            grad_v[j, l] = 0
        for k in range(capsules):
            for l in range(classes):
                _add(scale * grad_b[j, k, l], votes[j, k, l], grad_v[j, l])


@by_rows
def _votes_gradient(
    start: int, stop: int, beta: float, c: Array, grad_p: Array, grad_b: Array, u: Array, out: Array
) -> None:
    """``sum_t c_t grad_p_t + beta grad_b_{t+1} v_t``: through the selections and through the agreements."""
    iterations, _, capsules, classes = c.shape
    scale = u.dtype.type(beta)
    one = u.dtype.type(1)
    for j in range(start, stop):
        out[j] = 0
        for t in range(iterations):
            for l in range(classes):
                square = _dot(u[t, j, l], u[t, j, l])
                factor = scale * np.sqrt(square) / (one + square)  # v = factor / beta * u
                for k in range(capsules):
                    _add(c[t, j, k, l], grad_p[t, j, l], out[j, k, l])
                    if t + 1 < iterations:
                        _add(factor * grad_b[t + 1, j, k, l], u[t, j, l], out[j, k, l])


@inlined
def _softmax(b: Array, c: Array) -> None:
    """Softmax over the first axis."""
    capsules, classes = b.shape
    for l in range(classes):
        largest = b[0, l]
        for k in range(1, capsules):
            largest = max(largest, b[k, l])
        total = b.dtype.type(0)
        for k in range(capsules):
            c[k, l] = np.exp(b[k, l] - largest)
            total += c[k, l]
        for k in range(capsules):
            c[k, l] /= total


@inlined
def _dot(x: Array, y: Array) -> Any:
    total = x[0] * y[0]
    for f in range(1, x.shape[0]):
        total += x[f] * y[f]
    return total


@inlined
def _add(a: float, x: Array, out: Array) -> None:
    for f in range(x.shape[0]):
        out[f] += a * x[f]
