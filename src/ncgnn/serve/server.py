"""The server itself: where it listens, and how it ends."""

import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from ipaddress import ip_address

import uvicorn
from fastapi import FastAPI

from ncgnn.errors import InputError

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
_LAST_ANSWERS = 5  # seconds for requests that are under way when the server is stopped


def listen(host: str, port: int) -> socket.socket:
    """A socket that takes connections at once; port 0 is any free one."""
    if "*" in host:  # which resolves to something here and there, and as an allowed host means any
        raise InputError(f"host {host}: not an address; use 0.0.0.0 for all addresses of this machine", "host")
    try:
        family, _, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(place[:2], family=family)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "not a host name"
        raise InputError(
            f"cannot listen on host {host}, port {port} ({reason}): choose another port (0: any) or another host",
            "port",
            "host",
        ) from None


def address(listener: socket.socket) -> str:
    host, port, *_ = listener.getsockname()
    return f"http://{_bracketed(host)}:{port}/"


def allowed_hosts(host: str, listener: socket.socket) -> tuple[str, ...]:
    """The names by which a server that listens there may be called; any where it listens on all addresses."""
    if ip_address(listener.getsockname()[0]).is_unspecified:
        return ("*",)
    return tuple(dict.fromkeys((_bracketed(host), *LOOPBACK)))


def _bracketed(host: str) -> str:
    """An address of IPv6 as addresses of pages and requests have it."""
    return f"[{host}]" if ":" in host else host


def run_server(app: FastAPI, listener: socket.socket, say: Callable[[str], None]) -> None:
    """Serve until Ctrl-C or SIGTERM."""
    config = uvicorn.Config(app, log_level="error", access_log=False, timeout_graceful_shutdown=_LAST_ANSWERS)
    # uvicorn raises the signal that stopped it once more: so that both end here
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(KeyboardInterrupt):
        say(address(listener))
        uvicorn.Server(config).run(sockets=[listener])
