"""Hostile GraphML files."""

import gzip
from pathlib import Path
from random import Random

from helpers.hostile.odd import damaged
from helpers.hostile.sound import CHEAP, NODES

_KINDS = ("int", "long", "float", "double", "boolean", "string", "date", "")
_VALUES = ("", " ", "1", "1e999", "nan", "x", "&#xD;", "<b/>", "9" * 5000, "é", "&lt;", "true", "-0", "&nothing;")
_ENCODINGS = ("UTF-8", "utf-16", "latin-1", "made-up", "utf-7", "idna", "")
_SUFFIXES = (".graphml", ".graphml.gz")


def make(drawn: Random, folder: Path, sound: Path) -> list[str]:
    content = _document(drawn).encode(drawn.choice(("utf-8", "utf-8", "utf-16")), "replace")
    content = damaged(drawn, content) if drawn.random() < 0.3 else content
    suffix = drawn.choice(_SUFFIXES)
    if suffix.endswith("gz") and drawn.random() < 0.9:
        content = gzip.compress(content, 1)
        content = damaged(drawn, content) if drawn.random() < 0.4 else content
    (folder / f"bad{suffix}").write_bytes(content)
    graph = ["--nodes", f"bad{suffix}", "--label", "topic"]
    return drawn.choice((["check", *graph], ["train", *graph, *CHEAP, "--out", "made"]))


def _document(drawn: Random) -> str:
    kinds = [drawn.choice(_KINDS) for _ in range(2)]
    keys = [
        f'<key id="d{i}" for="node" attr.name="f{i}" attr.type="{kind}">{_default(drawn)}</key>'
        for i, kind in enumerate(kinds)
    ]
    keys.append('<key id="t" for="node" attr.name="topic" attr.type="string"/>')
    nodes = [_node(drawn, i) for i in range(NODES)]
    edges = [f'<edge source="n{i}" target="n{(i + 2) % (NODES + drawn.randrange(2))}"/>' for i in range(NODES)]
    head = f'<?xml version="1.0" encoding="{drawn.choice(_ENCODINGS)}"?>' if drawn.random() < 0.4 else ""
    graph = f'<graph edgedefault="{drawn.choice(("directed", "undirected", ""))}">{"".join(nodes + edges)}</graph>'
    return f'{head}<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{"".join(keys)}{graph}</graphml>'


def _default(drawn: Random) -> str:
    return f"<default>{drawn.choice(_VALUES)}</default>" if drawn.random() < 0.3 else ""


def _node(drawn: Random, number: int) -> str:
    odd = drawn.random() < 0.02
    values = [drawn.choice(_VALUES) if odd else str(drawn.random()) for _ in range(2)]
    data = "".join(f'<data key="d{i}">{value}</data>' for i, value in enumerate(values))
    return f'<node id="n{number}">{data}<data key="t">{"ab"[number % 2]}</data></node>'
