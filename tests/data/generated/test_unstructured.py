import torch

from ncgnn.data.generated.unstructured import random_graph


def test_random_graphs_have_the_sizes_asked_for():
    data = random_graph(2000, mean_degree=6, num_features=5, num_classes=3)
    assert data.x.shape == (2000, 5)
    assert data.y.unique().tolist() == [0, 1, 2]
    assert 5.9 < data.edge_index.shape[1] / 2000 <= 6
    assert not data.has_self_loops()
    assert data.is_undirected()
    assert (data.train_mask | data.val_mask | data.test_mask).all()
    assert torch.equal(random_graph(50).edge_index, random_graph(50).edge_index)
