"""Neighbourhood routing by agreement: the capsule graph layer (equations 8 to 13, algorithm 1)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from ncgnn.nn.capsules import Init, start_bound
from ncgnn.nn.kernels.capsules import dense_votes
from ncgnn.nn.kernels.routing import fused_route
from ncgnn.sparse import LinearOperator, as_operator, pool


@dataclass(frozen=True, eq=False)
class Routing:
    """Intermediate results of a capsule graph layer.

    Attributes:
        capsules: squashed output capsules v [N, C, f_c]; their lengths are the class scores.
        couplings: c [N, K, C] of the last iteration: the weight of each capsule of a node for each class. They sum to
            one over K; those of beliefs, which are not routed, are one each.
        u: output capsules before squashing [N, C, f_c].
        votes: W_kl h_j^k, the vote of each capsule of a node for each class [N, K, C, f_c].
        hop_weights: xi, the weight of each hop in the filter; ``None`` if it is not a finite sum.
    """

    capsules: Tensor
    couplings: Tensor
    u: Tensor
    votes: Tensor
    hop_weights: Tensor | None = None


def squash(u: Tensor) -> Tensor:
    r"""Equation 10: keeps the direction, brings the length into [0, 1):
    :math:`\frac{\|\mathbf{u}\|^2}{1 + \|\mathbf{u}\|^2} \cdot \frac{\mathbf{u}}{\|\mathbf{u}\|}`."""
    norm: Tensor = torch.linalg.vector_norm(u, dim=-1, keepdim=True)
    return u * (norm / (1 + norm**2))


Filters = LinearOperator | Sequence[LinearOperator]
"""The graph filter, or that of each group of capsules."""

Couplings = Callable[[int, Tensor], Tensor]
"""Given an iteration, counted from 0, and couplings [N, K, C], those to use."""


def route(
    votes: Tensor,
    a_bar: Filters,
    bias: Tensor,
    iterations: int,
    beta: float = 1.0,
    prior: Tensor | None = None,
    sizes: Sequence[int] | None = None,
    couplings: Couplings | None = None,
    last: Filters | None = None,
) -> Routing:
    """Algorithm 1. The gradient flows through every iteration.

    Args:
        votes: W_kl h_j^k [N, K, C, f_c].
        a_bar: the graph filter, or one for each group of capsules.
        bias: b_l [C, f_c].
        iterations: number of iterations, T.
        beta: scale of the agreement in equation 13; 1 in the paper.
        prior: initial b, broadcastable to [N, K, C]; zeros by default.
        sizes: number of capsules of each group; they add up to K.
        couplings: may replace the couplings of each iteration, for nodes to which not all messages arrive.
        last: the filter of the last iteration: rows of ``a_bar``, for the nodes whose output capsules are wanted.
    """
    if iterations < 1:
        raise ValueError(f"routing needs at least one iteration, not {iterations}")
    groups = sizes or [votes.shape[1]]
    b = votes.new_zeros(votes.shape[:-1]) if prior is None else prior.expand(votes.shape[:-1])
    for t in range(iterations):
        c = b.softmax(dim=1)  # eq. 12
        c = c if couplings is None else couplings(t, c)
        selected = (c.unsqueeze(-1) * votes).split(list(groups), dim=1)
        p = [of_group.sum(dim=1) for of_group in selected]  # eq. 8, capsule selection
        filters = a_bar if last is None or t < iterations - 1 else last
        filters = filters if isinstance(filters, Sequence) else [filters]
        messages = (a @ said.flatten(1) for a, said in zip(filters, p, strict=True))
        u = bias + sum(messages).view(-1, *bias.shape)  # eq. 9
        v = squash(u)  # eq. 10
        if t < iterations - 1:
            b = b + beta * (v.unsqueeze(1) * votes).sum(dim=-1)  # eq. 13
    return Routing(capsules=v, couplings=c, u=u, votes=votes)


class CapsuleGraphLayer(nn.Module):
    r"""Turns the capsules of all nodes into ``out_capsules`` new ones for each node (equations 8 to 13).

    .. math::
        \mathbf{p}_j^{(l)} = \sum_k c_{jkl} \mathbf{W}_{kl} \mathbf{h}_j^{(k)}, \quad
        \mathbf{u}_i^{(l)} = \sum_j \bar{a}_{ij} \mathbf{p}_j^{(l)} + \mathbf{b}_l, \quad
        \mathbf{v}_i^{(l)} = \operatorname{squash}(\mathbf{u}_i^{(l)})

    with couplings :math:`c_{jkl} = \operatorname{softmax}_k b_{jkl}` that grow with the agreement,
    :math:`b_{jkl} \leftarrow b_{jkl} + \beta \, \mathbf{v}_j^{(l)} \cdot \mathbf{W}_{kl} \mathbf{h}_j^{(k)}`.

    Args:
        in_capsules: capsules per node, K.
        in_channels: f_p.
        out_capsules: new capsules per node, C.
        out_channels: f_c.
        iterations: T, at least 1.
        beta: scale of the agreement; 1 in the paper, 5 to 20 makes routing selective.
        init: weight initialisation, ``"uniform"`` in ±1/sqrt(inputs) or ``"glorot"``.

    Shapes:
        - **input:** capsules [N, K, f_p] and the filter ``a_bar``: what a filter's ``forward`` returns, or a matrix
          [N, N], dense or ``torch.sparse_csr``
        - **output:** :class:`Routing` with ``capsules`` [N, C, f_c]
    """

    def __init__(
        self,
        in_capsules: int,
        in_channels: int,
        out_capsules: int,
        out_channels: int,
        iterations: int = 3,
        beta: float = 1.0,
        init: Init = "uniform",
    ) -> None:
        super().__init__()
        if iterations < 1:
            raise ValueError(f"routing needs at least one iteration, not {iterations}")
        self.in_capsules, self.in_channels = in_capsules, in_channels
        self.out_capsules, self.out_channels = out_capsules, out_channels
        self.iterations, self.beta = iterations, beta
        self.init: Init = init
        self.weight = nn.Parameter(torch.empty(in_capsules, in_channels, out_capsules, out_channels))  # W_kl transposed
        self.bias = nn.Parameter(torch.empty(out_capsules, out_channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        bound = start_bound(self.init, self.in_channels, self.out_channels)
        nn.init.uniform_(self.weight, -bound, bound)
        nn.init.zeros_(self.bias)

    def votes(self, h: Tensor) -> Tensor:
        r""":math:`\mathbf{W}_{kl} \mathbf{h}_j^{(k)}` [N, K, C, f_c]."""
        return dense_votes(h, self.weight)

    def forward(self, h: Tensor, a_bar: LinearOperator | Tensor, prior: Tensor | None = None) -> Routing:
        return self.route(self.votes(h), as_operator(a_bar), prior)

    def route(
        self,
        votes: Tensor,
        a_bar: Filters,
        prior: Tensor | None = None,
        sizes: Sequence[int] | None = None,
        couplings: Couplings | None = None,
        last: Filters | None = None,
    ) -> Routing:
        """Routing of given votes. On a CPU it is fused unless couplings may be replaced, and then couplings carry no
        gradient; use :func:`route` for it."""
        if votes.device.type != "cpu" or couplings is not None:
            return route(votes, a_bar, self.bias, self.iterations, self.beta, prior, sizes, couplings, last)
        v, c, u = fused_route(votes, a_bar, self.bias, self.iterations, self.beta, prior, sizes, last)
        return Routing(capsules=v, couplings=c, u=u, votes=votes)

    def __repr__(self) -> str:
        return (
            f"{self.__class__.__name__}({self.in_capsules}, {self.in_channels}, {self.out_capsules}, "
            f"{self.out_channels}, iterations={self.iterations}, beta={self.beta}, init={self.init!r})"
        )


def lengths(capsules: Tensor) -> Tensor:
    """Lengths of capsules [..., f_c]."""
    found: Tensor = torch.linalg.vector_norm(capsules, dim=-1)
    return found


def squashed_lengths(u: Tensor) -> Tensor:
    """Lengths of ``squash(u)`` [N, C], with little memory."""
    found: Tensor = _SquashedLengths.apply(u)
    return found


class _SquashedLengths(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, u: Tensor) -> Tensor:
        square = torch.linalg.vector_norm(u, dim=-1) ** 2
        ctx.save_for_backward(u, square)
        found: Tensor = square / (1 + square)
        return found

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        u, square = ctx.saved_tensors
        factor: Tensor = 2 * grads[0] / (1 + square) ** 2
        return torch.mul(u, factor.unsqueeze(-1), out=pool.empty(u, *u.shape))


def proportions(lengths: Tensor) -> Tensor:
    """Lengths divided by their sum over the last dimension; uniform if all are zero."""
    total = lengths.sum(dim=-1, keepdim=True)
    shares = lengths / total.clamp(min=torch.finfo(lengths.dtype).tiny)
    return torch.where(total > 0, shares, 1 / lengths.shape[-1])
