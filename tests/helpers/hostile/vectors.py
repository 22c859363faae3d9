"""Hostile vectors, in columns and beside tables, and hostile tables of several kinds of edges."""

import csv
import io
import shutil
from pathlib import Path
from random import Random

import numpy as np

from helpers.hostile.archives import altered
from helpers.hostile.odd import ODD_NAMES, damaged
from helpers.hostile.sound import CHEAP

_LISTS = ("[]", "[1]", "[1, 2, 3]", "[1e999, 2]", "[nan, 2]", "[[1], 2]", '["a", 1]', "[" * 2000, "[true, 1]", "[1, 2")
_KINDS = ("->", "<-", "both", "undirected", "sideways", *ODD_NAMES[:2], "🙂")


def make(drawn: Random, folder: Path, sound: Path) -> list[str]:
    for name in ("nodes.csv", "nodes.npy", "cites.csv", "likes.csv"):
        shutil.copy(sound / "own" / name, folder)
    if drawn.random() < 0.6:
        _alter_array(drawn, folder / "nodes.npy")
    if drawn.random() < 0.4:
        _add_lists(drawn, folder / "nodes.csv")
    if drawn.random() < 0.4:
        _alter_kinds(drawn, folder / "likes.csv")
    tables = ["--nodes", "nodes.csv", "--edges", "cites.csv", "--edges", "likes.csv", "--label", "topic"]
    tables += ["--directed"] * (drawn.random() < 0.6) + ["--direction", "kind"] * (drawn.random() < 0.5)
    batches = ["--batch", drawn.choice(("auto", "8", "0", "-1", "9" * 5000, "1e9", "many"))]
    train = ["train", *tables, *CHEAP, "--out", "made"]
    return drawn.choice((["check", *tables], train, [*train, "--set", "top_k=3", *batches]))


def _alter_array(drawn: Random, path: Path) -> None:
    array = np.load(path)
    for _ in range(drawn.randint(1, 2)):
        array = altered(drawn, array)
    out = io.BytesIO()
    np.save(out, array)
    content = out.getvalue()
    if drawn.random() < 0.2:
        content = content.replace(b"'shape': (", b"'shape': (1000000000, ", 1)
    path.write_bytes(damaged(drawn, content) if drawn.random() < 0.2 else content)


def _add_lists(drawn: Random, path: Path) -> None:
    """A column of lists, most of them sound."""
    rows = _rows(path)
    rows[0].append("vector")
    for row in rows[1:]:
        row.append(drawn.choice(_LISTS) if drawn.random() < 0.05 else "[0.5, 2]")
    _write(path, rows)


def _alter_kinds(drawn: Random, path: Path) -> None:
    rows = _rows(path)
    for row in drawn.sample(rows, 3):
        row[drawn.randrange(len(row))] = drawn.choice(_KINDS)
    _write(path, rows)


def _rows(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def _write(path: Path, rows: list[list[str]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
