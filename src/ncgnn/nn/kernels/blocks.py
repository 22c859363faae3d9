"""Algorithm 1 without the votes of all nodes: they are computed in blocks of nodes, again in every pass over them.

The gradients need the votes once more for each iteration, so training takes about half as long again, and memory grows
with the capsules of the classes only. Gives the same numbers as :mod:`ncgnn.nn.kernels.routing`, except for the order
in which the gradients of the weights are summed.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ncgnn.nn.kernels.routing import (
    _agree_and_select,
    _agree_and_select_backward,
    _mean,
    _message,
    _votes_gradient,
    sum_of,
)
from ncgnn.sparse import pool
from ncgnn.sparse.kernels import arrays
from ncgnn.sparse.operator import LinearOperator

_ENTRIES = 1 << 22  # of the votes of a block

Votes = Callable[[int, int], Tensor]
"""The votes of the nodes from ``start`` to ``stop`` [stop - start, K, C, f_c], the same in every call."""


def route_in_blocks(
    votes: Votes,
    weights: Sequence[Tensor],
    filters: Sequence[LinearOperator],
    bias: Tensor,
    sizes: Sequence[int],
    iterations: int,
    beta: float,
    last: Sequence[LinearOperator] | None = None,
) -> Tensor:
    """``u`` of the last iteration [N, C, f_c].

    Args:
        votes: computes the votes of a block from ``weights``, which receive its gradients.
        filters: the filter of each group of capsules.
        bias: b_l [C, f_c].
        sizes: number of capsules of each group.
        iterations: T.
        beta: scale of the agreement in equation 13.
        last: the filters of the last iteration: rows of ``filters``, whose ``u`` is wanted.
    """
    group = torch.arange(len(filters)).repeat_interleave(torch.tensor(list(sizes)))
    plan = _Plan(votes, list(filters), list(last or []), group, iterations, beta)
    parameters = [a_bar.parameter for a_bar in [*plan.filters, *plan.final]]
    u: Tensor = _RouteInBlocks.apply(plan, torch.is_grad_enabled(), bias, *parameters, *weights)
    return u


def fill_in_blocks(votes: Votes, like: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The votes of all nodes [N, K, C, f_c], without the capsules of all."""
    found = pool.empty(like, *shape)
    for rows in _blocks(shape):
        found[rows] = votes(rows.start, rows.stop)
    pool.clear()
    return found


def _blocks(shape: Sequence[int]) -> Iterator[slice]:
    nodes, *of_a_node = shape
    step = max(1, _ENTRIES // prod(of_a_node))
    return (slice(start, min(start + step, nodes)) for start in range(0, nodes, step))


@dataclass(frozen=True, eq=False)
class _Plan:
    """What both passes read, and how they go through the nodes."""

    votes: Votes
    filters: list[LinearOperator]
    final: list[LinearOperator]
    group: Tensor
    iterations: int
    beta: float

    def blocks(self, classes: int, size: int) -> Iterator[slice]:
        return _blocks((self.filters[0].shape[0], len(self.group), classes, size))


class _RouteInBlocks(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, plan: _Plan, is_kept: bool, bias: Tensor, *given: Tensor) -> Tensor:
        pool.clear()
        n, capsules, groups = plan.filters[0].shape[0], len(plan.group), len(plan.filters)
        classes, size = bias.shape
        b = pool.empty(bias, n, capsules, classes).zero_()
        p = [_select_equally(plan, pool.empty(bias, groups, n, classes, size))]
        c, u = [bias.new_full((1, 1, 1), 1 / capsules).expand(n, capsules, classes)], []
        for _ in range(1, plan.iterations):
            message = _message(plan.filters, p[-1])
            now = pool.empty(bias, n, capsules, classes), pool.empty(bias, groups, n, classes, size)
            for rows in plan.blocks(classes, size):
                chosen = bias.new_empty(groups, rows.stop - rows.start, classes, size)
                own = arrays(plan.group, plan.votes(rows.start, rows.stop), message[rows], bias, message[rows])
                _agree_and_select(chosen.shape[1], plan.beta, *own, *arrays(b[rows], now[0][rows], chosen))
                now[1][:, rows] = chosen
            u.append(message)  # with the bias
            c, p = ([*c, now[0]], [*p, now[1]]) if is_kept else ([now[0]], [now[1]])
            u = u if is_kept else []
        ctx.plan, ctx.kept, ctx.given = plan, (c, p, u), given
        return _message(plan.final or plan.filters, p[-1]).add_(bias.detach())

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        plan, grad_u = ctx.plan, grads[0].contiguous()
        if ctx.kept is None:
            raise RuntimeError("the gradients of routing in blocks can be computed only once")
        (c, p, u), ctx.kept = ctx.kept, None  # p becomes its own gradient
        _, n, classes, size = p[0].shape
        of_bias = grad_u.new_zeros(classes, size)
        of_parameters: list[Tensor | None] = [None] * len(plan.filters + plan.final)
        grad_b: list[Tensor] = [grad_u.new_zeros(1, 1, 1).expand(n, len(plan.group), classes)] * plan.iterations
        later = grad_b[0]
        for t in reversed(range(plan.iterations)):
            pool.clear()  # unused blocks are of other sizes than those to come
            of_bias += grad_u.sum(dim=0)
            is_final = t == plan.iterations - 1 and plan.final
            first, filters = (len(plan.filters), plan.final) if is_final else (0, plan.filters)
            for g, a_bar in enumerate(filters):
                found = _filter_backward(a_bar, p[t][g], grad_u, ctx.needs_input_grad[3 + first + g])
                of_parameters[first + g] = sum_of(of_parameters[first + g], found)
            if t == 0:
                break
            grad_b[t], grad_u = pool.empty(c[t], *c[t].shape), pool.empty(grad_u, n, classes, size)
            for rows in plan.blocks(classes, size):
                votes = plan.votes(rows.start, rows.stop)
                own = arrays(plan.group, votes, c[t][rows], p[t][:, rows], later[rows], grad_b[t][rows])
                _agree_and_select_backward(len(votes), plan.beta, *own, *arrays(u[t - 1][rows], grad_u[rows]))
            later = grad_b[t]
        weights = ctx.given[len(of_parameters) :]
        return None, None, of_bias, *of_parameters, *_of_weights(plan, weights, c, p, grad_b, u)


def _filter_backward(a_bar: LinearOperator, p: Tensor, grad_u: Tensor, is_learned: bool) -> Tensor | None:
    """``p`` becomes its own gradient; that of the filter's parameter. The filter keeps some copies of what it is given,
    so it is given one class at a time."""
    total: Tensor | None = None
    for l in range(p.shape[1]):
        found, p[:, l] = a_bar.gradients(p[:, l].contiguous(), grad_u[:, l].contiguous(), is_learned)
        total = sum_of(total, found)
    return total


def _select_equally(plan: _Plan, p: Tensor) -> Tensor:
    """Equation 8 in the first iteration."""
    for rows in plan.blocks(*p.shape[2:]):
        votes = plan.votes(rows.start, rows.stop)
        chosen = p.new_empty(len(p), *votes[:, 0].shape)
        _mean(len(votes), *arrays(plan.group, votes, chosen))
        p[:, rows] = chosen
    return p


def _of_weights(
    plan: _Plan, weights: Sequence[Tensor], c: list[Tensor], grad_p: list[Tensor], grad_b: list[Tensor], u: list[Tensor]
) -> list[Tensor]:
    """The gradients of the weights that the votes are computed from."""
    sums = [torch.zeros_like(weight) for weight in weights]
    for rows in plan.blocks(*grad_p[0].shape[2:]):
        own = [torch.stack([part[rows] for part in parts]) for parts in (c, grad_b)]
        said = torch.stack([part[:, rows] for part in grad_p])
        before = torch.stack([part[rows] for part in u]) if u else said[:, 0]  # unused by a single iteration
        with torch.enable_grad():
            votes = plan.votes(rows.start, rows.stop)
        grad_votes = pool.empty(votes, *votes.shape)
        _votes_gradient(len(votes), plan.beta, *arrays(plan.group, own[0], said, own[1], before, grad_votes))
        for total, found in zip(sums, torch.autograd.grad(votes, weights, grad_votes), strict=True):
            total += found
    return sums
