"""Fast sparse operations: products, powers, sparsification and PageRank as compiled kernels."""

from ncgnn.sparse.adjacency import normalized_adjacency
from ncgnn.sparse.chebyshev import ChebyshevSeries, pagerank_series
from ncgnn.sparse.csr import CSR, Pattern, as_operator, cheaper_operator
from ncgnn.sparse.operator import Dense, LinearOperator, Reused, is_fused
from ncgnn.sparse.pagerank import exact_pagerank, push_pagerank, push_rows
from ncgnn.sparse.polynomial import Polynomial
from ncgnn.sparse.powers import HopBank, hop_matrices, hop_rows, polynomial_matrix, polynomial_rows
from ncgnn.sparse.rows import dense_rows, mean_entries, sparse_rows
from ncgnn.sparse.sparsify import Sparsify, Threshold, TopK, normalize
from ncgnn.sparse.thinning import thinned

__all__ = [
    "CSR",
    "ChebyshevSeries",
    "Dense",
    "HopBank",
    "LinearOperator",
    "Pattern",
    "Polynomial",
    "Reused",
    "Sparsify",
    "Threshold",
    "TopK",
    "as_operator",
    "cheaper_operator",
    "dense_rows",
    "exact_pagerank",
    "hop_matrices",
    "hop_rows",
    "is_fused",
    "mean_entries",
    "normalize",
    "normalized_adjacency",
    "pagerank_series",
    "polynomial_matrix",
    "polynomial_rows",
    "push_pagerank",
    "push_rows",
    "sparse_rows",
    "thinned",
]
