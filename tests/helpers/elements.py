"""A page taken apart."""

import json
from html.parser import HTMLParser
from typing import Any


class Elements(HTMLParser):
    """The elements of a page with their attributes, and the text of its scripts by their ids."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: dict[str | None, str] = {}
        self._script: tuple[str | None] | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self._script = (dict(attrs).get("id"),) if tag == "script" else None

    def handle_endtag(self, tag: str) -> None:
        self._script = None

    def handle_data(self, data: str) -> None:
        if self._script is not None:
            (name,) = self._script
            self.scripts[name] = self.scripts.get(name, "") + data

    def json(self, name: str) -> Any:
        return json.loads(self.scripts[name])
