import torch

from ncgnn.data.generated.neighbour_mean import neighbour_mean


def test_a_class_is_the_quarter_of_the_neighbours_mean_and_all_are_as_frequent():
    data = neighbour_mean(400)
    assert data.y.bincount().tolist() == [100] * 4
    means = []
    for node in range(400):
        neighbours = data.edge_index[0][data.edge_index[1] == node]
        means.append(data.x[neighbours, 0].double().mean())
    assert torch.equal(torch.stack(means).argsort().argsort() // 100, data.y)


def test_a_node_and_the_classes_of_its_neighbours_say_nothing():
    data = neighbour_mean(2000)
    assert abs(torch.corrcoef(torch.stack([data.x[:, 0], data.y.float()]))[0, 1]) < 0.06
    source, target = data.edge_index
    assert abs((data.y[source] == data.y[target]).float().mean() - 0.25) < 0.03


def test_it_depends_on_the_seed_alone():
    assert torch.equal(neighbour_mean(50, seed=1).x, neighbour_mean(50, seed=1).x)
    assert not torch.equal(neighbour_mean(50, seed=1).x, neighbour_mean(50, seed=2).x)
