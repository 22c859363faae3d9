"""Base class of attention and diffusion filters (equation 4)."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import Any, Literal

import torch
from torch import Tensor, nn

from ncgnn.sparse import (
    CSR,
    Dense,
    HopBank,
    LinearOperator,
    Pattern,
    Polynomial,
    Sparsify,
    hop_matrices,
    hop_rows,
    normalized_adjacency,
)

Form = Literal["implicit", "explicit"]
Prepared = CSR | HopBank | Dense
HopTerm = tuple[str, Tensor]
"""The name of a hop, and the messages each node receives from it."""


@dataclass(frozen=True, eq=False)
class PreparedFilter:
    """The fixed part of a filter for one graph, created by :meth:`GraphFilter.prepare`.

    ``matrix`` is the normalised adjacency matrix for the implicit form; for the explicit form, the matrices of the hops
    or the finished filter. ``made_by`` is the ``cache_key`` of the filters that can use it.
    """

    matrix: Prepared
    is_implicit: bool
    num_nodes: int
    made_by: str

    def to(self, device: torch.device, dtype: torch.dtype) -> "PreparedFilter":
        return replace(self, matrix=self.matrix.to(device, dtype))


class GraphFilter(nn.Module, ABC):
    r"""The generalised graph filter (equation 4), a function of the normalised adjacency with self-loops:

    .. math::
        \bar{\mathbf{A}} = \sum_{i \in \mathcal{M}} \xi_i \tilde{\mathbf{A}}^i

    ``prepared = filter.prepare(edge_index, num_nodes)`` does the work that only depends on the graph;
    ``filter(prepared)`` is the operator :math:`\bar{\mathbf{A}}` at the current coefficients.

    A custom filter defines :meth:`coefficients`, fixed or computed from parameters, and :attr:`cache_key`.

    Args:
        sparsify: ``None``, :class:`~ncgnn.TopK` or :class:`~ncgnn.Threshold`; the result is renormalised.
        form: ``"implicit"`` applies :math:`\tilde{\mathbf{A}}` hop by hop and builds nothing, ``"explicit"`` builds
            the matrices; the results are equal. ``None`` uses the implicit form, which is cheaper, if it exists.
        has_loops: whether the adjacency matrix has self-loops, as in the paper.
    """

    def __init__(self, sparsify: Sparsify | None = None, form: Form | None = None, has_loops: bool = True) -> None:
        super().__init__()
        if form not in (None, "implicit", "explicit"):
            raise ValueError(f"form must be 'implicit', 'explicit' or None, not {form!r}")
        if form == "implicit" and sparsify is not None:
            raise ValueError("a sparsified filter has no implicit form")
        self.sparsify = sparsify
        self.form = form
        self.has_loops = has_loops

    @abstractmethod
    def coefficients(self) -> Tensor:
        r""":math:`\xi_0, \ldots, \xi_I` of equation 4, zero for hops not in :math:`\mathcal{M}`."""

    @property
    @abstractmethod
    def cache_key(self) -> str:
        """Filters with the same key prepare the same values for the same graph."""

    @property
    def hops(self) -> Sequence[int]:
        """The hops of :meth:`hop_weights`."""
        return range(len(self.coefficients()))

    def hop_weights(self) -> Tensor | None:
        r""":math:`\xi_i` for each of :attr:`hops`; ``None`` if the filter is not a finite sum."""
        return self.coefficients()

    def hop_terms(self, prepared: PreparedFilter, p: Tensor, arrived: Tensor) -> Iterator[HopTerm] | None:
        r"""What arrives from each hop of ``arrived`` :math:`= \bar{\mathbf{A}} \mathbf{p}` [N, d], in the order of the
        hops; ``None`` where the prepared filter is not a sum over hops."""
        matrix = prepared.matrix
        if isinstance(matrix, HopBank):
            return self._bank_terms(matrix, p)
        if not prepared.is_implicit:
            return None
        assert isinstance(matrix, CSR)
        return power_terms(matrix, self.coefficients().to(matrix.values).tolist(), p)

    def _bank_terms(self, bank: HopBank, p: Tensor) -> Iterator[HopTerm]:
        weights = self.hop_weights()
        assert weights is not None
        for hop, weight, values in zip(self.hops, weights.tolist(), bank.values, strict=True):
            yield str(hop), weight * CSR(bank.pattern, values).product(p)

    def reset_parameters(self) -> None:
        """Reset learned coefficients to their initial values; a fixed filter has none."""

    def prepare(
        self,
        edge_index: Tensor,
        num_nodes: int,
        edge_weight: Tensor | None = None,
        dtype: torch.dtype | None = None,
    ) -> PreparedFilter:
        """Prepare the filter for one graph; the result can be reused."""
        dtype = dtype or torch.get_default_dtype()
        a = normalized_adjacency(edge_index, num_nodes, edge_weight, self.has_loops)
        implicit = self._takes_implicit(a)
        matrix = CSR.from_scipy(a, dtype) if implicit else self._explicit(a, dtype)
        return PreparedFilter(matrix, implicit, num_nodes, self.cache_key).to(edge_index.device, dtype)

    def forward(self, prepared: PreparedFilter) -> LinearOperator:
        if prepared.made_by != self.cache_key:
            raise ValueError(f"this operator was prepared by {prepared.made_by}, not by {self.cache_key}")
        return (self._implicit_operator if prepared.is_implicit else self._explicit_operator)(prepared.matrix)

    def _takes_implicit(self, a: Any) -> bool:
        return self.form != "explicit" and self.sparsify is None

    def _implicit_operator(self, a: Any) -> LinearOperator:
        return Polynomial(a, self.coefficients().to(a.values))

    def _explicit(self, a: Any, dtype: torch.dtype) -> Prepared:
        return HopBank.from_scipy(hop_matrices(a, self.hops, self.sparsify), dtype)

    def rows(self, a: Any) -> Callable[[range], list[Any]]:
        """A function that computes some rows of the explicit form: of the matrix of each hop or of the finished filter,
        sparsified, but not yet renormalised, which takes the sums of all rows."""
        return lambda rows: hop_rows(a, self.hops, self.sparsify, rows)

    def of_rows(self, pattern: Pattern, values: Tensor) -> PreparedFilter:
        """The filter prepared from renormalised rows [matrices, nnz]."""
        return PreparedFilter(HopBank(pattern, values), False, pattern.num_columns, self.cache_key)

    def _explicit_operator(self, matrix: Any) -> LinearOperator:
        weights = self.hop_weights()
        assert weights is not None
        combined: LinearOperator = matrix.combine(weights.to(matrix.values.dtype))
        return combined

    def spectral_coefficients(self) -> Tensor:
        r""":math:`\theta` of proposition 1, so that :math:`\bar{\mathbf{A}} = \sum_j \theta_j \mathbf{L}^j` with
        :math:`\mathbf{L} = \mathbf{I} - \tilde{\mathbf{A}}`. Only for finite polynomials that are not sparsified."""
        if self.sparsify is not None:
            raise ValueError("a sparsified filter is not a polynomial in the Laplacian")
        xi = self.coefficients()
        degrees = range(len(xi))
        binomials = torch.tensor([[comb(i, j) * (-1) ** j for i in degrees] for j in degrees], dtype=torch.float64)
        return (binomials.to(xi.device) @ xi.double()).to(xi.dtype)

    def spectral_response(self, eigenvalues: Tensor) -> Tensor:
        r""":math:`g(\lambda)`: what the filter does to an eigenvector of :math:`\mathbf{L} = \mathbf{I} -
        \tilde{\mathbf{A}}` with eigenvalue :math:`\lambda` (before sparsification, if any)."""
        xi = self.coefficients().to(eigenvalues)
        return sum((c * (1 - eigenvalues) ** i for i, c in enumerate(xi)), torch.zeros_like(eigenvalues))


def power_terms(a: CSR, xi: Sequence[float], p: Tensor) -> Iterator[HopTerm]:
    """The terms of a polynomial in ``a``, each applied to ``p``."""
    for hop, weight in enumerate(xi):
        p = a.product(p) if hop else p
        if weight:  # a hop that is not in the filter is only passed through
            yield str(hop), weight * p
