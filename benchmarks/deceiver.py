"""A model that hides a feature it uses, and an honest one beside it, to see whether an audit tells them apart.

Azzolin et al. (2026), "GNN explanations that do not explain and how to find them", train self-explaining models whose
explanations have nothing to do with what decides the prediction. Here, the class depends on one secret feature alone,
and training also drives the contribution of that feature to zero: its influence is left where contributions are held
fixed, in the gates of the ReLU, the norms of the capsules and the couplings.
"""

from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor
from torch_geometric.data import Data

from ncgnn.explain.features import FeatureShares
from ncgnn.explain.removal import Removal
from ncgnn.explain.trace import trace_model
from ncgnn.nn import NCGNN, AttentionFilter, CapsuleGraphLayer, PreparedFilter, margin_loss

SECRETS = 2
"""The first features decide the class: a node has the one of its class."""
NODES, FEATURES, EPOCHS = 160, 30, 250
HIDING = 1.0
"""Weight of the penalty on the contributions of the secret features."""


def secret_graph() -> Data:
    """Nodes of two classes, told apart by a secret feature of each alone; other features and edges are random."""
    draw = torch.Generator().manual_seed(0)
    x = (torch.rand(NODES, FEATURES, generator=draw) < 0.4).float()
    y = torch.randint(SECRETS, (NODES,), generator=draw)
    x[:, :SECRETS] = torch.eye(SECRETS)[y]
    edges = torch.randint(NODES, (2, NODES), generator=draw)
    both = torch.cat([edges, edges.flip(0)], dim=1)
    return Data(x=x, edge_index=both[:, both[0] != both[1]].unique(dim=1), y=y)


def trained(data: Data, hiding: float, seed: int = 0) -> NCGNN:
    """A model of the secret graph; with ``hiding``, one whose contributions do not show the secret."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        filter = AttentionFilter([0, 1])
        model = NCGNN(FEATURES, 2, filter, num_capsules=3, primary_channels=8, class_channels=4, dropout=0.0)
        prepared = filter.prepare(data.edge_index, NODES)
        optimiser = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
        for _ in range(EPOCHS):
            optimiser.zero_grad()
            scores, routing = model(data.x, prepared, return_routing=True)
            loss = margin_loss(scores, data.y)
            if hiding:
                loss = loss + hiding * _shown(model, data.x, prepared, routing.u, routing.couplings).mean()
            loss.backward()
            optimiser.step()
    return model.eval()


def _shown(model: NCGNN, x: Tensor, prepared: PreparedFilter, u: Tensor, couplings: Tensor) -> Tensor:
    """The contributions of the secret features of each node to its own scores, in magnitude [N], with a gradient."""
    primary, layer = model.primary, cast(CapsuleGraphLayer, model.layers[-1])
    z = torch.einsum("nf,kqf->nkq", x, primary.weight) + primary.bias
    gates = (z > 0) / torch.linalg.vector_norm(F.relu(z), dim=-1, keepdim=True).clamp(min=1e-12)
    into = gates * torch.einsum("ns,kqs->nkq", x[:, :SECRETS], primary.weight[:, :, :SECRETS])
    part = torch.einsum("nkq,kqcf,nkc->ncf", into, layer.weight, couplings)
    return (part * F.normalize(u, dim=-1)).sum(dim=2).abs().sum(dim=1)


def removal_of(model: NCGNN, data: Data) -> Removal:
    """The model on its graph, to be audited."""
    trace = trace_model(model, data.x, model.filter.prepare(data.edge_index, data.num_nodes))
    return Removal(trace, FeatureShares(trace), data)
