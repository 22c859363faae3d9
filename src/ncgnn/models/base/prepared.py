"""A graph prepared for models."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.nn.conv.gcn_conv import gcn_norm

from ncgnn.batches import FilterRows
from ncgnn.batches.features import feature_rows
from ncgnn.data import complete, standardise
from ncgnn.errors import InputError
from ncgnn.models.base.chosen_edges import ALL, chosen_edges
from ncgnn.models.base.filter_cache import filter_folder, prepare_filter
from ncgnn.models.base.neighbours import Scale, scaled_adjacency
from ncgnn.models.base.row_files import row_files
from ncgnn.nn import GraphFilter, PreparedFilter
from ncgnn.sparse import CSR, Dense, LinearOperator, cheaper_operator, normalized_adjacency

T = TypeVar("T")


class PreparedGraph:
    """A graph, and the forms of its features and edges that models use. Each form is computed once, on first use, and
    shared by all models.

    Attributes:
        data: the complete graph, its numbers scaled.
        classes: the classes of the model, whose order may be another than the graph's.
        linked: ids of the nodes that columns of links stand for; None for all nodes of the graph.
        known: the classes of nodes by their ids; None for those of the graph's training nodes.
    """

    def __init__(self, data: Data) -> None:
        self.data = data
        self.classes: Sequence[str] = data.class_names if "class_names" in data else ()
        self.linked: Sequence[str] | None = None
        self.known: Mapping[str, int] | None = None
        self._x: dict[bool, Tensor] = {}
        self._features: dict[bool, LinearOperator] = {}
        self._dense: dict[bool, Tensor] = {}
        self._of_edges: dict[str, Any] = {}  # what edges alone decide

    @classmethod
    def of(cls, data: "Data | PreparedGraph") -> "PreparedGraph":
        """Complete any PyG graph and scale its numbers by its training nodes; prepared graphs are unchanged."""
        return data if isinstance(data, PreparedGraph) else cls.of_complete(complete(data))

    @classmethod
    def of_complete(cls, data: Data) -> "PreparedGraph":
        """Prepare a complete graph, with numbers scaled by its training nodes."""
        return cls(standardise(data))

    def with_split(self, data: Data) -> "PreparedGraph":
        """The same graph with another split or other scaling of its numbers; what edges alone decide is shared."""
        other = PreparedGraph(data)
        other._of_edges = self._of_edges
        return other

    def as_trained(
        self, classes: Sequence[str], linked: Sequence[str] | None, known: Mapping[str, int] | None
    ) -> "PreparedGraph":
        """The same graph for a model that was trained with these classes, nodes to link to, and labels."""
        other = self.with_split(self.data)
        other._x, other._features, other._dense = self._x, self._features, self._dense
        other.classes, other.linked, other.known = classes, linked, known
        return other

    def x(self, normalize: bool) -> Tensor:
        """The features [N, f], dense or sparse as they came."""
        if normalize not in self._x:
            self._x[normalize] = prepare_features(self.data.x, normalize)
        return self._x[normalize]

    def features(self, normalize: bool) -> LinearOperator:
        """The features [N, f] as an operator, dense or sparse, whichever is cheaper."""
        if normalize not in self._features:
            self._features[normalize] = cheaper_operator(self.x(normalize))
        return self._features[normalize]

    def dense_features(self, normalize: bool) -> Tensor:
        """The features [N, f] for PyG layers."""
        if normalize not in self._dense:
            x = self.x(normalize)
            self._dense[normalize] = (x if x.layout == torch.strided else x.to_dense()).contiguous()
        return self._dense[normalize]

    def filter(self, filter: GraphFilter, edges: str = ALL) -> PreparedFilter:
        """The filter prepared for this graph, or for some of its edges."""
        key = f"filter {edges} {filter.cache_key}"
        if key not in self._of_edges:
            try:
                chosen = chosen_edges(self.data, edges)
                prepared = prepare_filter(filter, chosen, torch.get_default_dtype(), filter_folder())
            except InputError:
                raise
            except ValueError as error:
                raise InputError(f"the filter does not suit this graph: {error}") from None
            self._of_edges[key] = prepared
        return cast(PreparedFilter, self._of_edges[key])

    def feature_rows(self, normalize: bool, nodes: np.ndarray) -> LinearOperator:
        """The features of some nodes [n, f], read when they are needed."""
        return cheaper_operator(prepare_features(feature_rows(self.data.x, nodes), normalize))

    def filter_rows(self, filter: GraphFilter, edges: str = ALL) -> FilterRows:
        """The rows of the filter for this graph, or for some of its edges, in files."""
        key = f"rows {edges} {filter.cache_key}"
        if key not in self._of_edges:
            try:
                self._of_edges[key] = row_files(filter, chosen_edges(self.data, edges))
            except InputError:
                raise
            except ValueError as error:
                raise InputError(f"the filter does not suit this graph: {error}") from None
        return cast(FilterRows, self._of_edges[key])

    def links(self, edges: str = ALL) -> CSR:
        """The rows of links [N, nodes linked to], of unit length."""
        key = f"links {edges}" if self.linked is None else f"links {edges} to {hash(tuple(self.linked))}"
        if key not in self._of_edges:
            matrix = unit_rows(self._link_counts(chosen_edges(self.data, edges)))
            self._of_edges[key] = CSR.from_scipy(matrix, torch.get_default_dtype())
        return cast(CSR, self._of_edges[key])

    def _link_counts(self, chosen: Data) -> sp.csr_matrix:
        nodes = int(self.data.num_nodes or 0)
        rows, columns = chosen.edge_index.flip(0).numpy()  # a row holds the nodes that messages come from
        weight = chosen.get("edge_weight")
        values = np.ones(rows.size) if weight is None else weight.numpy().astype(float)
        matrix = sp.csr_matrix((values, (rows, columns)), shape=(nodes, nodes))
        if self.linked is None or list(self.linked) == list(self.data.node_ids):
            return matrix
        places = {name: place for place, name in enumerate(self.data.node_ids)}
        known = [(column, places[name]) for column, name in enumerate(self.linked) if name in places]
        if not known:
            raise InputError(
                "the model recognises nodes by their links to the nodes it was trained on, and this graph has none"
                " of them"
            )
        targets, sources = zip(*known, strict=True)
        chosen_columns = sp.csr_matrix((np.ones(len(known)), (sources, targets)), shape=(nodes, len(self.linked)))
        return sp.csr_matrix(matrix @ chosen_columns)

    @property
    def known_classes(self) -> Dense:
        """The known classes [N, C], with zeros for all other nodes."""
        data = self.data
        known = torch.zeros(len(data.y), len(self.classes), dtype=torch.get_default_dtype())
        if self.known is None:
            train = data.train_mask
            known[train] = F.one_hot(data.y[train], len(self.classes)).to(known.dtype)
        else:
            found = [(node, self.known[name]) for node, name in enumerate(data.node_ids) if name in self.known]
            for node, number in found:
                known[node, number] = 1
        return Dense(known)

    def of_edges(self, key: str, make: Callable[[Data], T]) -> T:
        """What a model makes of the edges alone, computed once for all splits; ``key`` names it."""
        if key not in self._of_edges:
            self._of_edges[key] = make(self.data)
        return cast(T, self._of_edges[key])

    @property
    def normalized_edges(self) -> tuple[Tensor, Tensor]:
        """Edges with self-loops, and their weights in the normalised adjacency matrix, for PyG layers."""
        if "edges" not in self._of_edges:
            data = self.data
            self._of_edges["edges"] = gcn_norm(data.edge_index, data.get("edge_weight"), data.num_nodes)
        return cast(tuple[Tensor, Tensor], self._of_edges["edges"])

    @property
    def adjacency(self) -> CSR:
        """The normalised adjacency with self-loops [N, N]."""
        if "adjacency" not in self._of_edges:
            data = self.data
            a = normalized_adjacency(data.edge_index, int(data.num_nodes or 0), data.get("edge_weight"))
            self._of_edges["adjacency"] = CSR.from_scipy(a, torch.get_default_dtype())
        return cast(CSR, self._of_edges["adjacency"])

    def neighbours(self, scale: Scale, edges: str = ALL, has_loops: bool = False) -> CSR:
        """The adjacency [N, N] of all or some edges, see :func:`~ncgnn.models.base.neighbours.scaled_adjacency`."""
        key = f"neighbours {scale} {edges} {has_loops}"
        if key not in self._of_edges:
            a = scaled_adjacency(chosen_edges(self.data, edges), scale, has_loops)
            self._of_edges[key] = CSR.from_scipy(a, torch.get_default_dtype())
        return cast(CSR, self._of_edges[key])


def prepare_features(x: Tensor, normalize: bool) -> Tensor:
    """Features unchanged, or with each row divided by its L1 norm."""
    x = x.to(torch.get_default_dtype())  # the type of the weights
    if not normalize:
        return x
    if x.layout == torch.strided:
        return x / x.abs().sum(dim=1, keepdim=True).clamp(min=torch.finfo(x.dtype).tiny)
    counts = x.crow_indices().diff()
    rows = torch.repeat_interleave(torch.arange(x.shape[0], device=x.device), counts)
    sums = x.values().new_zeros(x.shape[0]).index_add(0, rows, x.values().abs())
    out = x.clone()
    out.values().div_(sums[rows].clamp(min=torch.finfo(x.dtype).tiny))
    return out


def unit_rows(matrix: sp.csr_matrix) -> sp.csr_matrix:
    """The matrix with rows of length one; empty rows stay empty."""
    lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    return sp.diags(np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)) @ matrix
