"""``ncgnn serve`` without a port: the answers to one request of each kind are what counts."""

import asyncio
import json
import sys
from typing import Any
from unittest.mock import patch
from urllib.parse import urlencode

from ncgnn.cli.app import main


def ask_every_route() -> None:
    """Run the command; in place of serving, ask every route about the first node."""
    with patch("ncgnn.serve.run_server", _ask):
        main()


def _ask(app: Any, listener: object, told: object) -> None:
    found = json.loads(_answer(app, "/api/nodes")[1])
    node = found["nodes"][0]["id"]
    for route in ("/", *json.loads(_answer(app, "/openapi.json")[1])["paths"]):
        status = _answer(app, route, {} if route in ("/", "/api/nodes") else {"node": node})[0]
        if status >= 500:
            print(f"{route}: {status}", file=sys.stderr)
            raise SystemExit(1)


def _answer(app: Any, path: str, query: dict[str, str] | None = None) -> tuple[int, bytes]:
    """Status and body of the answer to a request."""
    parts: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        parts.append(message)

    scope = {"type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "root_path": ""}
    scope |= {"query_string": urlencode(query or {}, errors="replace").encode(), "headers": [(b"host", b"127.0.0.1")]}
    scope |= {"scheme": "http", "server": ("127.0.0.1", 80), "client": ("127.0.0.1", 1), "http_version": "1.1"}
    asyncio.run(app(scope, receive, send))
    return parts[0]["status"], b"".join(part.get("body", b"") for part in parts)
