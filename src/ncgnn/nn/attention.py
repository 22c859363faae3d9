"""The attention-based graph filter (equations 4 and 5)."""

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor, nn

from ncgnn.nn.filter import Form, GraphFilter
from ncgnn.sparse import Sparsify


class AttentionFilter(GraphFilter):
    r"""Learns a weight for each hop (equations 4 and 5):

    .. math::
        \bar{\mathbf{A}} = \sum_{i \in \mathcal{M}} \xi_i \tilde{\mathbf{A}}^i, \qquad
        \xi_i = \frac{\exp(\zeta_i)}{\sum_{j \in \mathcal{M}} \exp(\zeta_j)}

    Args:
        hops: the set of hops :math:`\mathcal{M}`; any integers from 0 (the node itself) on, or n for
            1 to n.
        sparsify: sparsification of each power :math:`\tilde{\mathbf{A}}^i`: ``None``, ``TopK(k)`` or
            ``Threshold(epsilon)``.
        prior: initial :math:`\zeta_i`, one per hop; zeros by default.
        form: see :class:`~ncgnn.nn.filter.GraphFilter`.
        has_loops: see :class:`~ncgnn.nn.filter.GraphFilter`.
    """

    hop_index: Tensor

    def __init__(
        self,
        hops: int | Iterable[int] = 5,
        sparsify: Sparsify | None = None,
        prior: Sequence[float] | None = None,
        form: Form | None = None,
        has_loops: bool = True,
    ) -> None:
        super().__init__(sparsify, form, has_loops)
        given = list(range(1, hops + 1)) if isinstance(hops, int) else list(hops)
        if not given or any(hop != int(hop) or hop < 0 for hop in given) or len(set(given)) < len(given):
            raise ValueError(f"hops must be distinct non-negative integers, at least one, not {given}")
        if prior is not None and len(prior) != len(given):
            raise ValueError(f"the prior has {len(prior)} values for {len(given)} hops")
        start = sorted(zip(given, [0.0] * len(given) if prior is None else prior, strict=True))
        self._hops = tuple(hop for hop, _ in start)
        self.prior = tuple(float(zeta) for _, zeta in start)
        self.zeta = nn.Parameter(torch.empty(len(self.hops)))
        self.register_buffer("hop_index", torch.tensor(self.hops), persistent=False)
        self.reset_parameters()

    @property
    def hops(self) -> tuple[int, ...]:
        r""":math:`\mathcal{M}`, in ascending order."""
        return self._hops

    @property
    def cache_key(self) -> str:
        loops = "" if self.has_loops else " without loops"
        return f"attention hops={list(self.hops)} sparsify={self.sparsify} form={self.form}{loops}"

    def reset_parameters(self) -> None:
        with torch.no_grad():
            self.zeta.copy_(torch.tensor(self.prior))

    def hop_weights(self) -> Tensor:
        r""":math:`\xi_i` for the hops of :math:`\mathcal{M}` in ascending order; they sum to one."""
        return self.zeta.softmax(0)

    def coefficients(self) -> Tensor:
        return self.zeta.new_zeros(self.hops[-1] + 1).index_put((self.hop_index,), self.hop_weights())

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}(hops={list(self.hops)}, sparsify={self.sparsify}, form={self.form!r})"
