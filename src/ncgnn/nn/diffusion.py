"""The diffusion-based graph filter (equations 6 and 7)."""

from collections.abc import Callable, Iterator
from math import exp, lgamma, log
from typing import Any, Literal

import torch
from torch import Tensor

from ncgnn.nn.filter import Form, GraphFilter, HopTerm, PreparedFilter, power_terms
from ncgnn.sparse import (
    CSR,
    ChebyshevSeries,
    Dense,
    LinearOperator,
    Pattern,
    Sparsify,
    TopK,
    exact_pagerank,
    normalize,
    pagerank_series,
    polynomial_matrix,
    polynomial_rows,
    push_pagerank,
    push_rows,
)
from ncgnn.sparse.pagerank import EXACT_LIMIT, is_symmetric

LEAST_ALPHA = 1e-4
"""Below it, PageRank takes thousands of products with the graph, and forgets where it started."""

FIRST_HOPS = 10
"""Number of hops reported separately for the infinite sum of exact PageRank."""


class DiffusionFilter(GraphFilter):
    r"""A fixed filter: personalised PageRank (equation 6, truncated: equation 7) or the heat kernel:

    .. math::
        \bar{\mathbf{A}} = \alpha (\mathbf{I} - (1 - \alpha) \tilde{\mathbf{A}})^{-1}
        = \sum_{i=0}^{\infty} \alpha (1 - \alpha)^i \tilde{\mathbf{A}}^i, \qquad
        \bar{\mathbf{A}} = e^{-t \mathbf{L}} = \sum_{i=0}^{\infty} e^{-t} \frac{t^i}{i!} \tilde{\mathbf{A}}^i

    Exact PageRank is applied as a Chebyshev series, to rounding, without ever forming its matrix; on a directed graph,
    in the explicit form and before sparsification an N x N matrix is inverted, up to 10 000 nodes. Above that,
    ``TopK`` switches to a push method that finds only the largest entries of each row, with an error of at most
    ``tolerance`` times :math:`\sqrt{\hat{d}_i \hat{d}_j}`.

    Args:
        alpha: teleport probability of PageRank.
        steps: P, the last power of the truncated sum; ``None`` for the exact filter.
        kind: ``"ppr"`` or ``"heat"``.
        time: t of the heat kernel.
        sparsify: sparsification of the finished filter: ``None``, ``TopK(k)`` or ``Threshold(epsilon)``.
        tolerance: precision of the push method.
        form: see :class:`~ncgnn.nn.filter.GraphFilter`.
    """

    def __init__(
        self,
        alpha: float = 0.1,
        steps: int | None = None,
        kind: Literal["ppr", "heat"] = "ppr",
        time: float = 5.0,
        sparsify: Sparsify | None = None,
        tolerance: float = 1e-6,
        form: Form | None = None,
    ) -> None:
        super().__init__(sparsify, form)
        if kind not in ("ppr", "heat"):
            raise ValueError(f"kind must be 'ppr' or 'heat', not {kind!r}")
        if not LEAST_ALPHA <= alpha < 1:
            raise ValueError(f"alpha must be at least {LEAST_ALPHA} and below 1, not {alpha}")
        if not time > 0 or not tolerance > 0:
            raise ValueError(f"time and tolerance must be positive, not {time} and {tolerance}")
        if steps is not None and steps < 0:
            raise ValueError(f"steps must be 0 or more, not {steps}")
        self.alpha, self.steps, self.kind = alpha, steps, kind
        self.time, self.tolerance = time, tolerance

    @property
    def cache_key(self) -> str:
        rate = f"ppr alpha={self.alpha}" if self.kind == "ppr" else f"heat time={self.time}"
        return f"{rate} steps={self.steps} sparsify={self.sparsify} tolerance={self.tolerance} form={self.form}"

    @property
    def _is_closed(self) -> bool:
        """Whether this is exact PageRank, whose sum over hops converges too slowly."""
        return self.kind == "ppr" and self.steps is None

    def _takes_implicit(self, a: Any) -> bool:
        if not super()._takes_implicit(a) or not self._is_closed:
            return super()._takes_implicit(a)
        symmetric = is_symmetric(a)
        if self.form == "implicit" and not symmetric:
            raise ValueError("exact PageRank of a directed graph has no implicit form: make the edges symmetric")
        return symmetric

    def _implicit_operator(self, a: CSR) -> LinearOperator:
        if not self._is_closed:
            return super()._implicit_operator(a)
        series = pagerank_series(self.alpha, a.values.dtype)
        return ChebyshevSeries(a, series.to(a.values.device), odds=(1 - self.alpha) / self.alpha)

    def coefficients(self) -> Tensor:
        return torch.tensor(self._series(), dtype=torch.float64)

    def hop_weights(self) -> Tensor | None:
        return None if self.steps is None else self.coefficients()

    def hop_terms(self, prepared: PreparedFilter, p: Tensor, arrived: Tensor) -> Iterator[HopTerm] | None:
        if not (prepared.is_implicit and self._is_closed):
            return super().hop_terms(prepared, p, arrived)
        assert isinstance(prepared.matrix, CSR)
        return self._first_terms(prepared.matrix, p, arrived)

    def _first_terms(self, a: CSR, p: Tensor, arrived: Tensor) -> Iterator[HopTerm]:
        for hop, term in power_terms(a, [self.alpha * (1 - self.alpha) ** h for h in range(FIRST_HOPS)], p):
            arrived = arrived - term
            yield hop, term
        yield "farther", arrived

    def _series(self) -> list[float]:
        if self.kind == "ppr":
            if self.steps is None:
                raise ValueError("the series of exact PageRank is infinite: set steps=P")
            return [self.alpha * (1 - self.alpha) ** i for i in range(self.steps + 1)]
        last = self.steps if self.steps is not None else _heat_degree(self.time)
        return [_heat_term(self.time, i) for i in range(last + 1)]

    def _explicit(self, a: Any, dtype: torch.dtype) -> CSR | Dense:
        if not self._is_closed:
            return CSR.from_scipy(polynomial_matrix(a, self._series(), self.sparsify), dtype)
        if isinstance(self.sparsify, TopK) and a.shape[0] > EXACT_LIMIT:
            return CSR.from_scipy(normalize(push_pagerank(a, self.alpha, self.sparsify, self.tolerance)), dtype)
        exact = exact_pagerank(a, self.alpha)
        if self.sparsify is None:
            return Dense(torch.from_numpy(exact).to(dtype))
        return CSR.from_scipy(normalize(self.sparsify(exact)), dtype)

    def rows(self, a: Any) -> Callable[[range], list[Any]]:
        if not self._is_closed:
            return lambda rows: [polynomial_rows(a, self._series(), self.sparsify, rows)]
        if self.sparsify is None:
            raise ValueError("every row of exact PageRank is full: keep the top k entries of each")
        if isinstance(self.sparsify, TopK) and a.shape[0] > EXACT_LIMIT:
            push = push_rows(a, self.alpha, self.sparsify, self.tolerance)
            return lambda rows: [push(rows)]
        exact = self.sparsify(exact_pagerank(a, self.alpha))
        return lambda rows: [exact[rows.start : rows.stop]]

    def of_rows(self, pattern: Pattern, values: Tensor) -> PreparedFilter:
        return PreparedFilter(CSR(pattern, values[0]), False, pattern.num_columns, self.cache_key)

    def _explicit_operator(self, matrix: CSR | Dense) -> LinearOperator:
        return matrix

    def spectral_coefficients(self) -> Tensor:
        if self.steps is None:
            raise ValueError("an infinite sum has no finite spectral coefficients: set steps=P")
        return super().spectral_coefficients()

    def spectral_response(self, eigenvalues: Tensor) -> Tensor:
        if self.steps is not None:
            return super().spectral_response(eigenvalues)
        if self.kind == "heat":
            return torch.exp(-self.time * eigenvalues)
        return self.alpha / (1 - (1 - self.alpha) * (1 - eigenvalues))

    def __repr__(self) -> str:
        rate = f"alpha={self.alpha}" if self.kind == "ppr" else f"kind='heat', time={self.time}"
        push = f", tolerance={self.tolerance}" if self._is_closed and isinstance(self.sparsify, TopK) else ""
        return (
            f"{self.__class__.__name__}({rate}, steps={self.steps}, sparsify={self.sparsify}{push}, form={self.form!r})"
        )


def _heat_term(time: float, i: int) -> float:
    return exp(i * log(time) - time - lgamma(i + 1))


def _heat_degree(time: float) -> int:
    """The power after which the terms, which decay faster than geometrically, vanish in double precision."""
    i = int(2 * time) + 1
    while _heat_term(time, i) > 1e-18:
        i += 1
    return i
