"""A server on a thread of its own, and what it answers."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from threading import Thread
from urllib.parse import urlencode

import uvicorn

from ncgnn.scored import Scored
from ncgnn.serve import Answers, listen, make_app
from ncgnn.serve.server import LOOPBACK


@contextmanager
def serving(scored: Scored) -> Iterator[int]:
    """The port of a server of a model and its graph."""
    listener = listen("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(make_app(Answers(scored), LOOPBACK), log_level="error"))
    thread = Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


def answer_of(port: int, path: str, host: str = "localhost", method: str = "GET", **query: object) -> tuple[int, str]:
    """Status and text of an answer."""
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(method, f"{path}?{urlencode(query)}" if query else path, headers={"Host": host})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()
