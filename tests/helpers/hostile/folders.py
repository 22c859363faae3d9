"""Hostile folders of the Open Graph Benchmark."""

import gzip
import io
import shutil
from pathlib import Path
from random import Random

import numpy as np

from helpers.hostile.archives import altered, declared_larger
from helpers.hostile.odd import ODD_NAMES, ODD_NUMBERS, damaged
from helpers.hostile.sound import CHEAP


def make(drawn: Random, folder: Path, sound: Path) -> list[str]:
    shutil.copytree(sound / drawn.choice(("ogb-tables", "ogb-tables", "ogb-arrays")), folder / "ogb")
    files = sorted(path for path in (folder / "ogb").rglob("*") if path.is_file())
    for path in drawn.sample(files, drawn.randint(1, 2)):
        match drawn.randrange(8):
            case 0:
                path.unlink(missing_ok=True)
            case 1:
                path.write_bytes(damaged(drawn, path.read_bytes()) if path.is_file() else b"")
            case 2 if path.suffix == ".gz":
                path.write_bytes(gzip.compress(drawn.choice((b"", b"\n", b"\xff", b"0\n" * 24, b"1,2,3,4\n" * 24)), 1))
            case _ if path.is_file():
                _ARRAYS[path.suffix](drawn, path)
    graph = drawn.choice((["check", "ogb"], ["train", "ogb", *CHEAP, "--out", "made"]))
    return drawn.choice((graph, graph, ["predict", str(sound / "ncgnn.safetensors"), "ogb"]))


def _alter_table(drawn: Random, path: Path) -> None:
    rows = [line.split(",") for line in gzip.decompress(path.read_bytes()).decode("utf-8", "replace").splitlines()]
    for _ in range(drawn.randint(1, 3)):
        if rows:
            row = drawn.choice(rows)
            row[drawn.randrange(len(row))] = str(drawn.choice((*ODD_NAMES, *ODD_NUMBERS, "24", "-1", "0.5")))
    text = "".join(f"{','.join(row)}\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode("utf-8", "replace"), 1))


def _alter_archive(drawn: Random, path: Path) -> None:
    with np.load(path) as found:
        arrays = {key: found[key] for key in found.files}
    key = drawn.choice(sorted(arrays))
    arrays[key] = altered(drawn, arrays[key])
    packed = io.BytesIO()
    np.savez(packed, **arrays)
    path.write_bytes(declared_larger(packed.getvalue()) if drawn.random() < 0.1 else packed.getvalue())


_ARRAYS = {".gz": _alter_table, ".npz": _alter_archive}
