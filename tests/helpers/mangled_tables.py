"""Tables of a graph as a person's programs may leave them: sound, faulty, or whatever random bytes make of them."""

import codecs
import csv
import gzip
import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from hypothesis import strategies as st

HEADER = ["id", "size", "kind", "topic"]
LABEL = "topic"

_texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
_enormous = st.integers(10**30, 10**40).map(str) | st.sampled_from("aß東🙂").map(lambda letter: letter * 9000)
_ids = st.lists(_texts | st.integers(-9, 10**9).map(str) | _enormous, min_size=6, max_size=10, unique=True)


@dataclass(frozen=True)
class Tables:
    """A node and an edge table as rows of text, and how they are written."""

    nodes: list[list[str]]
    edges: list[list[str]]
    delimiter: str
    suffix: str
    end: str
    quoting: int

    def frames(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        nodes, edges = (pd.DataFrame(rows[1:], columns=rows[0], dtype="str") for rows in (self.nodes, self.edges))
        return nodes, edges

    def content(self, rows: list[list[str]]) -> str:
        out = io.StringIO()
        ends_lines = any(mark in value for row in rows for value in row for mark in "\r\n")
        quoting = csv.QUOTE_ALL if ends_lines else self.quoting  # Python leaves \n bare where \r ends a line
        csv.writer(out, delimiter=self.delimiter, lineterminator=self.end, quoting=quoting).writerows(rows)
        return out.getvalue()


@st.composite
def tables(draw: st.DrawFn) -> Tables:
    ids = draw(_ids)
    values = st.tuples(st.floats(-1e9, 1e9).map(str) | st.just(""), st.sampled_from(["a", "b", "ü,;\t|", ""]))
    nodes = [[name, *draw(values), ("u", "v", "")[i % 3]] for i, name in enumerate(ids)]
    edges = draw(st.lists(st.tuples(st.sampled_from(ids), st.sampled_from(ids)).map(list), max_size=12))
    return Tables(
        [HEADER, *nodes],
        [["source", "target"], *edges],
        draw(st.sampled_from(",;\t|")),
        draw(st.sampled_from([".csv", ".tsv", ".CSV"])),
        draw(st.sampled_from(["\n", "\r\n", "\r"])),
        draw(st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL])),
    )


Mangle = Callable[[str], bytes]
SOUND: dict[str, Mangle] = {
    "as it is": lambda text: text.encode(),
    "byte-order mark": lambda text: codecs.BOM_UTF8 + text.encode(),
    "utf-16": lambda text: text.encode("utf-16"),
    "utf-32": lambda text: text.encode("utf-32"),
    "gzip": lambda text: gzip.compress(text.encode()),
    "no last line end": lambda text: text.rstrip("\r\n").encode(),
}
FAULTY: dict[str, Mangle] = {
    "empty": lambda text: b"",
    "empty gzip": lambda text: gzip.compress(b""),
    "blank lines": lambda text: b"\n\r\n\n",
    "mixed encodings": lambda text: text.encode() + b"\xe9\xff\xe8",
    "cut utf-16": lambda text: text.encode("utf-16")[:-1],
    "cut gzip": lambda text: gzip.compress(text.encode())[:-12],
    "ragged": lambda text: text.encode() + b"one value, far; too\tmany|,,,,,;;;;;;\t\t\t\t\t|||||\n",
    "header twice": lambda text: text.replace("size", "id", 1).replace("target", "source", 1).encode(),
    "not a table": lambda text: b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
}


def write(folder: Path, written: Tables, mangle: Mangle, which: str = "nodes") -> tuple[Path, Path]:
    """One table mangled, the other as it should be."""
    paths = {name: folder / f"{name}{written.suffix}" for name in ("nodes", "edges")}
    for name, path in paths.items():
        content = written.content(getattr(written, name))
        path.write_bytes(mangle(content) if name == which else content.encode())
    return paths["nodes"], paths["edges"]


def noise(seed: bytes, place: float) -> Mangle:
    """Random bytes somewhere in the table."""

    def mangle(text: str) -> bytes:
        content = text.encode()
        start = int(place * len(content))
        return content[:start] + seed + content[start + len(seed) // 2 :]

    return mangle
