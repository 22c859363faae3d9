"""Hostile graphs in folders of memory-mapped files, most of them with checksums that fit."""

import hashlib
import io
import shutil
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from helpers.hostile.archives import altered
from helpers.hostile.odd import ODD_NAMES, damaged
from helpers.hostile.sound import CHEAP
from ncgnn.batches.shards import File, Manifest
from ncgnn.text import is_unicode

_ROWS = (-1, 0, 1, 25, 10**9, 10**18)
_KEYS = (
    *(name for name in ODD_NAMES if is_unicode(name)),
    *("graph", "graph x y z", f"graph 3 {'0' * 64} a\nb/..", f"graph {10**12} {'0' * 64} large"),
)


def make(drawn: Random, folder: Path, sound: Path) -> list[str]:
    graph = folder / "mapped"
    shutil.copytree(sound / "mapped", graph)
    files = sorted(graph.glob("*.npy"))
    for path in drawn.sample(files, drawn.randint(0, 2)):
        _alter(drawn, path)
    _describe(graph, **_odd(drawn))
    if drawn.random() < 0.2:
        path = drawn.choice((*files, graph / "manifest.json"))
        path.write_bytes(damaged(drawn, path.read_bytes()))
    model = str(sound / "ncgnn.safetensors")
    alone = (["check", "mapped"], ["train", "mapped", *CHEAP, "--out", "made"])
    batched = [*alone[1], "--set", "top_k=3", "--batch", "8"]
    return drawn.choice((*alone, batched, ["predict", model, "mapped"], ["explain", model, "mapped", "--node", "n1"]))


def _alter(drawn: Random, path: Path) -> None:
    if drawn.random() < 0.2:
        path.write_bytes(damaged(drawn, path.read_bytes()))
        return
    array = np.load(path)
    match drawn.randrange(4):
        case 0:
            array = np.full_like(array, drawn.choice((0, 1, 127, 255)) if array.dtype == np.uint8 else -1)
        case 1:
            array = np.sort(array, axis=None)[::-1].reshape(array.shape).copy()
        case _:
            array = altered(drawn, array)
    out = io.BytesIO()
    np.save(out, array)
    path.write_bytes(out.getvalue())


def _odd(drawn: Random) -> dict[str, Any]:
    """What the manifest may say instead."""
    if drawn.random() < 0.7:
        return {}
    return drawn.choice(({"rows": drawn.choice(_ROWS)}, {"key": drawn.choice(_KEYS)}, {"shards": []}))


def _describe(graph: Path, **odd: Any) -> None:
    """Write a manifest that fits to the files as they are now."""
    path = graph / "manifest.json"
    found = Manifest.model_validate_json(path.read_bytes())
    (shard,) = found.shards
    for name in shard.files:
        content = (graph / f"{shard.first:012d}-{name}.npy").read_bytes()
        shard.files[name] = File(len(content), hashlib.sha256(content).hexdigest())
    shard.rows = odd.get("rows", shard.rows)
    path.write_text(found.model_copy(update=odd).sealed.model_dump_json())
