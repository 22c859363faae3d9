from typing import Any

import pytest
import torch
from torch_geometric.nn import DirGNNConv, SimpleConv
from torch_geometric.utils import scatter

import ncgnn
from helpers.fitting import fit
from ncgnn.data import complete, split_stratified
from ncgnn.data.edge_tables import edge_table
from ncgnn.data.graph import make_graph
from ncgnn.models import PreparedGraph, Sizes
from ncgnn.models.dir_gnn import MODEL, DirSettings
from ncgnn.train.loop import class_scores

LINKS = torch.tensor([[0, 0, 1, 3], [1, 2, 2, 0]])  # source, target


def directed():
    both = torch.cat([LINKS, LINKS.flip(0)], dim=1)
    data = complete(make_graph("directed", torch.randn(5, 3), both, torch.tensor([0, 1, 0, 1, 1])))
    data.edge_tables = {"links": edge_table(LINKS.t().numpy(), 5)}
    return data


@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("root", [False, True])
@pytest.mark.parametrize("join", ["max", "cat"])
def test_its_scores_are_those_of_the_formula(alpha, root, join):
    """Written down with dense matrices."""
    data = directed()
    values = {"layers": 2, "width": 4, "alpha": alpha, "root": root, "join": join, "normalize_features": False}
    settings = DirSettings.make(values)
    module: Any = MODEL.build(Sizes.of(data), settings)
    out = torch.zeros(5, 5)
    out[LINKS[0], LINKS[1]] = 1
    ends = (out.sum(1, keepdim=True) * out.sum(0)).sqrt().clamp(min=1)
    s_out, s_in, h, layers = out / ends, (out / ends).t(), data.x, []
    with torch.no_grad():
        for conv in module.convs:
            new = alpha * conv.out(s_out @ h) + (1 - alpha) * conv.into(s_in @ h) + (conv.root(h) if root else 0)
            h = new.relu() / new.relu().norm(dim=1, keepdim=True).clamp(min=1e-12)
            layers.append(h)
        joined = torch.cat(layers, dim=1) if join == "cat" else torch.stack(layers).amax(dim=0)
        expected = module.last(joined)
    torch.testing.assert_close(class_scores(module, MODEL.prepare(PreparedGraph(data), settings)), expected)


def test_alpha_is_the_share_of_the_nodes_a_node_links_to_as_in_pytorch_geometric():
    """Of sums over neighbours, without weights: PyG's and ours take the same from each direction."""
    conv = SimpleConv("add")
    conv.in_channels = conv.out_channels = 3
    data = directed()
    theirs = DirGNNConv(conv, alpha=0.3, root_weight=False)(data.x, LINKS)
    out = scatter(data.x[LINKS[1]], LINKS[0], dim_size=5)
    into = scatter(data.x[LINKS[0]], LINKS[1], dim_size=5)
    torch.testing.assert_close(theirs, 0.3 * out + 0.7 * into)
    _, s_out, s_in = MODEL.prepare(PreparedGraph(data), DirSettings()).arguments
    assert torch.equal(s_out.to_dense()[0] > 0, torch.tensor([False, True, True, False, False]))
    assert torch.equal(s_in.to_dense()[0] > 0, torch.tensor([False, False, False, True, False]))


def test_without_directions_both_are_all_edges():
    data = complete(ncgnn.load_dataset("karate"))
    _, s_out, s_in = MODEL.prepare(PreparedGraph(data), DirSettings()).arguments
    assert s_out is s_in


def test_it_learns_who_links_to_a_node():
    """Each node has an arrow to the next; its class is the sign of the node before."""
    x, nodes = torch.randn(300, 2), torch.arange(300)
    links = torch.stack([nodes, (nodes + 1) % 300])
    y = (x[:, 0].roll(1) > 0).long()
    data = split_stratified(make_graph("ring", x, torch.cat([links, links.flip(0)], dim=1), y))
    data.edge_tables = {"links": edge_table(links.t().numpy(), 300)}
    settings = DirSettings.make({"layers": 1, "lr": 0.05, "epochs": 100, "normalize_features": False})
    test = data.test_mask.numpy()
    assert (fit(MODEL, data, settings).predicted == data.y.numpy())[test].mean() > 0.9
    del data.edge_tables
    assert (fit(MODEL, data, settings).predicted == data.y.numpy())[test].mean() < 0.9
