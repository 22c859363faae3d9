"""A model and a graph over HTTP: the page, and an interface for scripts."""

from ncgnn.serve.answers import Answers
from ncgnn.serve.app import make_app
from ncgnn.serve.server import address, allowed_hosts, listen, run_server

__all__ = ["Answers", "address", "allowed_hosts", "listen", "make_app", "run_server"]
