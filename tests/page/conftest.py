from copy import copy

import pytest
from torch_geometric.data import Data

from helpers.planted_names import PLANTED
from helpers.small_models import SMALL
from ncgnn.classifier import NCGNNClassifier
from ncgnn.data import load_dataset, split_per_class
from ncgnn.explain import GraphExplainer
from ncgnn.page import write_page


@pytest.fixture(scope="session")
def karate() -> Data:
    return split_per_class(load_dataset("karate"), train=3, val=8)


@pytest.fixture(scope="session")
def explainer(karate) -> GraphExplainer:
    """Of the karate club; not to be changed."""
    return GraphExplainer(NCGNNClassifier(**SMALL, hops=2, epochs=15).fit_scored(karate))


@pytest.fixture(scope="session")
def planted() -> Data:
    """The karate club, with names that try to be more than names."""
    data = copy(split_per_class(load_dataset("karate"), train=3, val=8))
    data.node_titles = [*reversed(PLANTED), *[""] * (data.num_nodes - len(PLANTED))]
    data.node_ids = [*PLANTED, *data.node_ids[len(PLANTED) :]]
    data.feature_names = [*PLANTED, *data.feature_names[len(PLANTED) :]]
    data.class_names = [f"{name} {number}" for number, name in enumerate(PLANTED[:4])]
    data.name = PLANTED[1]
    return data


@pytest.fixture(scope="session")
def planted_page(planted, tmp_path_factory):
    """The page of that graph."""
    scored = NCGNNClassifier(**SMALL, hops=2, epochs=5).fit_scored(planted)
    path = tmp_path_factory.mktemp("planted") / "page.html"
    write_page(path, GraphExplainer(scored))
    return path
