from torch import nn
from torch_geometric.data import Data

from ncgnn.models.base.memory import expected_bytes


def test_a_model_takes_its_weights_and_a_row_and_the_scores_of_every_node():
    data = Data(num_nodes=10, class_names=[f"c{i}" for i in range(1000)])
    assert expected_bytes(nn.Linear(3, 2, bias=False), data, copies=1) == 4 * 3 * 2 + 4 * 10 * 2 + 4 * 10 * 1000
