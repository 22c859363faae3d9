"""What arrives from each hop, where the filter is a sum over hops."""

from collections.abc import Iterator

from torch import Tensor

from ncgnn.explain.trace import Trace
from ncgnn.nn import AttentionFilter, DiffusionFilter
from ncgnn.sparse import CSR, ChebyshevSeries, HopBank, Polynomial

FIRST_HOPS = 10
"""Of the endless sum of exact PageRank, so many hops are told apart."""

Term = tuple[str, Tensor]  # a hop, and what arrives from it at each node [N, C, f_c]


def hop_terms(trace: Trace) -> Iterator[Term] | None:
    """The terms of the filter's sum, each applied to what the nodes say. ``None`` for filters that are no such sum:
    a diffusion filter as a finished matrix, sparsified or not."""
    filter, matrix = trace.model.filter, trace.prepared.matrix
    if isinstance(trace.a_bar, Polynomial):
        return _powers(trace.a_bar.base, trace.a_bar.coefficients.tolist(), trace.p)
    if isinstance(trace.a_bar, ChebyshevSeries) and isinstance(filter, DiffusionFilter):
        return _first_powers(trace.a_bar.base, filter.alpha, trace)
    if isinstance(matrix, HopBank) and isinstance(filter, AttentionFilter):
        return _bank(matrix, filter, trace.p)
    return None


def _powers(a: CSR, xi: list[float], p: Tensor) -> Iterator[Term]:
    power = p.flatten(1)
    for hop, weight in enumerate(xi):
        power = a.product(power) if hop else power
        if weight:  # a hop that the filter leaves out is only passed through
            yield str(hop), (weight * power).view_as(p)


def _first_powers(a: CSR, alpha: float, trace: Trace) -> Iterator[Term]:
    farther = trace.routing.u - trace.bias
    for hop, term in _powers(a, [alpha * (1 - alpha) ** h for h in range(FIRST_HOPS)], trace.p):
        farther = farther - term
        yield hop, term
    yield "farther", farther


def _bank(bank: HopBank, filter: AttentionFilter, p: Tensor) -> Iterator[Term]:
    for hop, weight, values in zip(filter.hops, filter.hop_weights().tolist(), bank.values, strict=True):
        yield str(hop), (weight * CSR(bank.pattern, values).product(p.flatten(1))).view_as(p)
