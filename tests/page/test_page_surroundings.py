import torch
from torch_geometric.data import Data

from ncgnn.page.surroundings import FARTHEST, Surroundings


def path(length: int) -> Data:
    """Nodes in a row, and one that is linked to none."""
    there = torch.stack([torch.arange(length - 1), torch.arange(1, length)])
    return Data(edge_index=torch.cat([there, there.flip(0)], dim=1), num_nodes=length + 1)


def test_distances_are_counted_in_steps_up_to_the_farthest():
    around = Surroundings(path(7))
    assert around.distances(0, [0, 1, FARTHEST, FARTHEST + 1]) == [0, 1, FARTHEST, None]
    assert around.distances(0, [7]) == [None]


def test_links_are_the_edges_among_nodes_each_once():
    around = Surroundings(path(4))
    assert around.links([2, 1, 3, 7 - 3]) == [(0, 1), (0, 2)]
    assert around.links([0, 3]) == []
