import json
from collections.abc import Callable, Iterator
from functools import partial

import pytest
from torch_geometric.data import Data

from helpers.server import answer_of, serving
from helpers.small_models import SMALL
from ncgnn.classifier import NCGNNClassifier
from ncgnn.data import complete, load_dataset, usual_split

Get = Callable[..., tuple[int, str]]


@pytest.fixture(scope="session")
def graph() -> Data:
    return usual_split(complete(load_dataset("karate")))


@pytest.fixture(scope="session")
def classifier(graph) -> NCGNNClassifier:
    return NCGNNClassifier(**SMALL, hops=2, epochs=15).fit(graph)


@pytest.fixture(scope="session")
def port(graph, classifier) -> Iterator[int]:
    """The port of a server of the karate club."""
    with serving(classifier.scored(graph)) as port:
        yield port


@pytest.fixture
def get(port) -> Get:
    """Status and text of an answer."""
    return partial(answer_of, port)


@pytest.fixture
def ask(get) -> Callable[..., tuple[int, dict]]:
    """Status and JSON of an answer."""

    def parsed(path: str, **query: object) -> tuple[int, dict]:
        status, text = get(path, **query)
        return status, json.loads(text)

    return parsed
