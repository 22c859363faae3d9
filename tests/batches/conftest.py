import pytest

from ncgnn.data.generated.unstructured import random_graph
from ncgnn.models import PreparedGraph


@pytest.fixture
def graph() -> PreparedGraph:
    return PreparedGraph(random_graph(400, mean_degree=2.5, num_features=12, num_classes=3))
