"""A graph as models take it."""

from functools import cached_property

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.nn.conv.gcn_conv import gcn_norm

from ncgnn.data import complete, standardise
from ncgnn.errors import InputError
from ncgnn.models.base.features import prepare_features
from ncgnn.models.base.filter_cache import filter_folder, prepare_filter
from ncgnn.nn import GraphFilter, PreparedFilter
from ncgnn.sparse import CSR, LinearOperator, cheaper_operator, normalized_adjacency


class PreparedGraph:
    """A graph, and what models make of its features and edges. Each form is computed when it is first asked for, and
    once, so that several models share it.

    Attributes:
        data: the complete graph, its numbers scaled.
    """

    def __init__(self, data: Data) -> None:
        self.data = data
        self._features: dict[bool, LinearOperator] = {}
        self._dense: dict[bool, Tensor] = {}
        self._filters: dict[str, PreparedFilter] = {}

    @classmethod
    def of(cls, data: "Data | PreparedGraph") -> "PreparedGraph":
        """Any PyG graph, completed, its numbers scaled by its training nodes; a prepared one as it is."""
        return data if isinstance(data, PreparedGraph) else cls.of_complete(complete(data))

    @classmethod
    def of_complete(cls, data: Data) -> "PreparedGraph":
        """A complete graph, its numbers scaled by its training nodes."""
        return cls(standardise(data))

    def features(self, normalize: bool) -> LinearOperator:
        """The features [N, f] as the operator that is cheaper, dense or sparse."""
        if normalize not in self._features:
            self._features[normalize] = cheaper_operator(prepare_features(self.data.x, normalize))
        return self._features[normalize]

    def dense_features(self, normalize: bool) -> Tensor:
        """The features [N, f] as PyG's layers take them."""
        if normalize not in self._dense:
            x = prepare_features(self.data.x, normalize)
            self._dense[normalize] = (x if x.layout == torch.strided else x.to_dense()).contiguous()
        return self._dense[normalize]

    def filter(self, filter: GraphFilter) -> PreparedFilter:
        """The filter on this graph."""
        if filter.cache_key not in self._filters:
            try:
                prepared = prepare_filter(filter, self.data, torch.get_default_dtype(), filter_folder())
            except ValueError as error:
                raise InputError(f"the filter does not suit this graph: {error}") from None
            self._filters[filter.cache_key] = prepared
        return self._filters[filter.cache_key]

    @cached_property
    def normalized_edges(self) -> tuple[Tensor, Tensor]:
        """Edges with self-loops, and their weights in the normalised adjacency, as PyG's layers take them."""
        edges, weight = gcn_norm(self.data.edge_index, self.data.get("edge_weight"), self.data.num_nodes)
        return edges, weight

    @cached_property
    def adjacency(self) -> CSR:
        """The normalised adjacency with self-loops [N, N]."""
        a = normalized_adjacency(self.data.edge_index, int(self.data.num_nodes or 0), self.data.get("edge_weight"))
        return CSR.from_scipy(a, torch.get_default_dtype())
