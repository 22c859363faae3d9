"""A page as text: the template with its style and script, and the data, in one file that needs nothing else."""

import json
import re
from base64 import b64encode
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any

SCRIPTS = (
    *("data.js", "dom.js", "shapes.js", "tables.js", "charts.js"),
    *("map.js", "ego.js", "node.js", "overview.js", "search.js", "page.js"),
)


def render(overview: dict[str, Any], views: dict[str, Any] | None = None) -> str:
    """The page. Without ``views`` it asks the server that it came from for the nodes."""
    style = _read("style.css")
    script = '"use strict";\n' + "\n".join(map(_read, SCRIPTS))
    parts = {
        "title": escape(overview["name"]),
        "policy": _policy(style, script, is_served=views is None),
        "style": style,
        "script": script,
        "overview": as_json(overview),
        "views": as_json(views),
    }
    # in one pass, so that nothing is looked for inside of what was put in
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _read("page.html"))


def as_json(value: object) -> str:
    """JSON that cannot end the script element it stands in."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).replace("<", r"\u003c")


def _policy(style: str, script: str, is_served: bool) -> str:
    """Nothing may be loaded or run but what was written here."""
    source = "'self'" if is_served else "'none'"
    return (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; img-src data:; "
        f"connect-src {source}; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _read(name: str) -> str:
    return (files("ncgnn.page") / "template" / name).read_text("utf-8")
