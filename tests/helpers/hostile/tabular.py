"""Hostile Parquet and CSV tables."""

import csv
import gzip
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from helpers.hostile.odd import ODD_NAMES, damaged
from helpers.hostile.sound import CHEAP, NODES

_TEXTS = tuple(name for name in ODD_NAMES if not any(half in name for half in "\ud800\udfff"))
_ODD_CELLS = (*_TEXTS, "1e999", "-1", "0x1", "1,5")
_DAY = 86_400_000_000


def make_parquet(drawn: Random, folder: Path, sound: Path) -> list[str]:
    columns: dict[str, pa.Array] = {
        "id": pa.array([f"n{i}" for i in range(NODES)]),
        "size": pa.array([float(i) for i in range(NODES)]),
        "topic": pa.array(["ab"[i % 2] for i in range(NODES)]),
    }
    for _ in range(drawn.randint(1, 2)):
        columns[drawn.choice((*columns, "more", "x" * 3000))] = drawn.choice(_ARRAYS)(drawn)
    ends = {"source": pa.array([f"n{i}" for i in range(8)]), "target": pa.array([f"n{i + 2}" for i in range(8)])}
    if drawn.random() < 0.2:
        ends[drawn.choice(("source", "target", "weight"))] = drawn.choice(_ARRAYS)(drawn)[:8]
    for name, table in (("nodes", columns), ("edges", ends)):
        pa.parquet.write_table(pa.table(table), folder / f"{name}.parquet")
        if drawn.random() < 0.1:
            content = (folder / f"{name}.parquet").read_bytes()
            (folder / f"{name}.parquet").write_bytes(damaged(drawn, content))
    return _command(drawn, ".parquet")


def _of(kind: pa.DataType, value: Callable[[int], Any]) -> Callable[[Random], pa.Array]:
    return lambda drawn: pa.array([value(i) if i != drawn.randrange(60) else None for i in range(NODES)], kind)


def _not_utf8(drawn: Random) -> pa.Array:
    found = pa.array([b"a\xff" if drawn.random() < 0.2 else b"ab" for _ in range(NODES)], pa.binary())
    return pa.Array.from_buffers(pa.string(), NODES, found.buffers())


_ARRAYS: tuple[Callable[[Random], pa.Array], ...] = (
    _of(pa.binary(), lambda i: b"n%d" % i),
    _of(pa.binary(4), lambda i: b"%04d" % i),
    _of(pa.binary(), lambda i: bytes([i, 200 + i])),
    _of(pa.timestamp("us", "Mars/Olympus"), lambda i: i * _DAY),
    _of(pa.timestamp("us", "Europe/Berlin"), lambda i: i * _DAY),
    _of(pa.timestamp("s"), lambda i: i * 10**13),
    _of(pa.timestamp("ns"), lambda i: -(2**63) + 1 + i),
    _of(pa.date32(), lambda i: 2**31 - 1 - i),
    _of(pa.date64(), lambda i: 10**9 * 86_400_000 * i),
    _of(pa.time64("ns"), lambda i: i),
    _of(pa.duration("s"), lambda i: i * 10**12),
    _of(pa.list_(pa.int8()), lambda i: [i]),
    _of(pa.struct({"a": pa.int8()}), lambda i: {"a": i}),
    _of(pa.map_(pa.string(), pa.int8()), lambda i: [("a", i)]),
    _of(pa.decimal128(38, 5), lambda i: i),
    _of(pa.decimal256(76, 5), lambda i: 10**40 + i),
    _of(pa.uint64(), lambda i: 2**64 - 1 - i),
    _of(pa.float16(), lambda i: float(i)),
    _of(pa.null(), lambda i: None),
    _of(pa.bool_(), lambda i: i % 2 == 0),
    _of(pa.string(), lambda i: _ODD_CELLS[i % len(_ODD_CELLS)]),
    _of(pa.string(), lambda i: f"{9990 + i}-12-31"),
    _not_utf8,
    lambda drawn: pa.array(["p", "q"] * (NODES // 2)).dictionary_encode(),
    lambda drawn: pa.array([b"p", b"q"] * (NODES // 2)).dictionary_encode(),
)


def make_csv(drawn: Random, folder: Path, sound: Path) -> list[str]:
    nodes = [["id", "size", "topic"], *([f"n{i}", str(i), "ab"[i % 2]] for i in range(NODES))]
    edges = [["source", "target"], *([f"n{i}", f"n{(i + 2) % NODES}"] for i in range(NODES))]
    rows = drawn.choice((nodes, nodes, edges))
    for _ in range(drawn.randint(1, 3)):
        row = drawn.choice(rows)
        row[drawn.randrange(len(row))] = drawn.choice(_ODD_CELLS)
    suffix = drawn.choice((".csv", ".tsv", ".csv.gz"))
    for name, table in (("nodes", nodes), ("edges", edges)):
        place = folder / f"{name}{suffix}"
        with place.open("w", encoding=drawn.choice(("utf-8", "utf-8", "utf-16", "utf-8-sig")), newline="") as file:
            csv.writer(file, delimiter=drawn.choice(",,\t;|")).writerows(table)
        content = place.read_bytes()
        content = damaged(drawn, content) if drawn.random() < 0.3 else content
        content = gzip.compress(content, 1) if suffix.endswith("gz") else content
        place.write_bytes(damaged(drawn, content) if drawn.random() < 0.1 else content)
    return _command(drawn, suffix)


def _command(drawn: Random, suffix: str) -> list[str]:
    graph = ["--nodes", f"nodes{suffix}", "--edges", f"edges{suffix}", "--label", "topic"]
    more = ["--title", "size"] if drawn.random() < 0.2 else []
    return drawn.choice((["check", *graph, *more], ["train", *graph, *more, *CHEAP, "--out", "made"]))
