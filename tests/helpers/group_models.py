"""Models with several groups of capsules, and graphs with directed links for them."""

from typing import Any

import torch
from torch_geometric.data import Data

import ncgnn
from helpers.small_models import SMALL
from ncgnn.classifier import NCGNNClassifier
from ncgnn.data import EdgeTable, split_per_class
from ncgnn.explain import Trace, trace_model
from ncgnn.nn import Beliefs, CapsuleGroup, PrimaryCapsules
from ncgnn.sparse import CSR

NODES, FEATURES, CLASSES, SIZE = 12, 5, 3, 4

GROUPS: dict[str, list[dict[str, Any]]] = {
    "links": [{"reads": "links", "edges": "out"}],
    "beliefs": [{"reads": "beliefs"}],
    "all": [{"reads": "links", "edges": "in"}, {"edges": "out", "hops": [1]}, {"reads": "beliefs"}],
}


def random_links(nodes: int = NODES, seed: int = 0) -> torch.Tensor:
    """Directed links, some of them both ways."""
    chosen = torch.rand(nodes, nodes, generator=torch.Generator().manual_seed(seed)) < 0.25
    return chosen.fill_diagonal_(False).nonzero().t()


def grouped_trace(filter: ncgnn.GraphFilter | None = None, with_links: bool = True, with_beliefs: bool = True) -> Trace:
    """A random model on a random graph, in double precision; no weight is zero."""
    links = random_links()
    both = torch.cat([links, links.flip(0)], dim=1)
    torch.manual_seed(0)
    filter, x = filter or ncgnn.AttentionFilter([1, 2]), torch.randn(NODES, FEATURES).double()
    groups: list[CapsuleGroup | Beliefs] = []
    inputs: list[torch.Tensor | CSR] = [x]
    edges = [both]
    if with_links:
        row = torch.zeros(NODES, NODES).index_put((links[0], links[1]), torch.tensor(1.0)).double()
        groups.append(CapsuleGroup("links (out)", PrimaryCapsules(NODES, 2, 6), ncgnn.AttentionFilter([0])))
        groups.append(CapsuleGroup("features (in)", PrimaryCapsules(FEATURES, 2, 6), ncgnn.AttentionFilter([1, 3])))
        inputs += [CSR.from_torch(row.to_sparse_csr()), x]
        edges += [links.flip(0), links]
    if with_beliefs:
        groups.append(Beliefs(CLASSES, SIZE, ncgnn.AttentionFilter([1], has_loops=False), scale=0.5))
        known = torch.eye(CLASSES).repeat(NODES // CLASSES, 1) * (torch.arange(NODES) < 4)[:, None]
        inputs.append(known.double())
        edges.append(both)
    sizes = {"num_capsules": 3, "primary_channels": 6, "class_channels": SIZE, "beta": 3.0}
    model = ncgnn.NCGNN(FEATURES, CLASSES, filter, groups=groups, **sizes)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter)
    model = model.double().eval()
    prepared = [g.filter.prepare(e, NODES, dtype=torch.float64) for g, e in zip(model.groups, edges, strict=True)]
    return trace_model(model, inputs, prepared)


def linked_graph() -> Data:
    """Forty nodes of two classes, with a directed edge table; half of the nodes are told apart by whom they link to,
    the others by their features."""
    draw = torch.Generator().manual_seed(0)
    y = torch.arange(40) % 2
    x = torch.rand(40, 6, generator=draw)
    x[:20, :2] += 2 * torch.eye(2)[y[:20]]
    others = torch.randint(0, 40, (2, 60), generator=draw)
    hubs = torch.stack([torch.arange(20, 40), y[20:]])
    links = torch.cat([others[:, others[0] != others[1]], hubs], dim=1).unique(dim=1)
    both = torch.cat([links, links.flip(0)], dim=1).unique(dim=1)
    data = Data(x=x, edge_index=both, y=y, class_names=["red", "blue"], name="linked")
    data.edge_tables = {"links": EdgeTable(links, None, True)}
    return split_per_class(data, train=6, val=6)


def grouped_classifier(
    data: Data, groups: str | list[dict[str, Any]] = "links", epochs: int = 30, **more: Any
) -> NCGNNClassifier:
    settings = SMALL | {"hops": [1, 2], "groups": GROUPS[groups] if isinstance(groups, str) else groups} | more
    return NCGNNClassifier(**settings, epochs=epochs).fit(data)
