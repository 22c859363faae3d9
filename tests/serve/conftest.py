import json
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from threading import Thread
from urllib.parse import urlencode

import pytest
import uvicorn
from torch_geometric.data import Data

from helpers.small_models import SMALL
from ncgnn.classifier import NCGNNClassifier
from ncgnn.data import complete, load_dataset, usual_split
from ncgnn.serve import Answers, listen, make_app
from ncgnn.serve.server import LOOPBACK

Get = Callable[..., tuple[int, str]]


@pytest.fixture(scope="session")
def graph() -> Data:
    return usual_split(complete(load_dataset("karate")))


@pytest.fixture(scope="session")
def classifier(graph) -> NCGNNClassifier:
    return NCGNNClassifier(**SMALL, hops=2, epochs=15).fit(graph)


@pytest.fixture(scope="session")
def port(graph, classifier) -> Iterator[int]:
    """The port of a server of the karate club, on a thread of its own."""
    listener = listen("127.0.0.1", 0)
    app = make_app(Answers(classifier, graph), LOOPBACK)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    thread = Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    yield listener.getsockname()[1]
    server.should_exit = True
    thread.join()
    listener.close()


@pytest.fixture
def get(port) -> Get:
    """Status and text of an answer."""

    def ask(path: str, host: str = "localhost", method: str = "GET", **query: object) -> tuple[int, str]:
        connection = HTTPConnection("127.0.0.1", port, timeout=60)
        try:
            connection.request(method, f"{path}?{urlencode(query)}" if query else path, headers={"Host": host})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    return ask


@pytest.fixture
def ask(get) -> Callable[..., tuple[int, dict]]:
    """Status and JSON of an answer."""

    def parsed(path: str, **query: object) -> tuple[int, dict]:
        status, text = get(path, **query)
        return status, json.loads(text)

    return parsed
