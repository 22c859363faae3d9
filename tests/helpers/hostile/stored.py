"""Files that the program keeps for itself, altered: cached filters, filter rows on disk, the trainings of a search,
checkpoints."""

import io
import json
import shutil
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch
from safetensors.torch import load, save

from helpers.hostile.archives import altered
from helpers.hostile.headers import changed, metadata
from helpers.hostile.odd import ODD_NAMES, ODD_NUMBERS, damaged
from helpers.hostile.sound import CONTINUED, SEARCHED

_SEARCH = ["train", "graph.npz", "--model", SEARCHED, "--search", "quick", "--no-refit", "--out", "made"]
_VALUES: tuple[Any, ...] = (None, True, "", "x", "../../x", [], [[]], [1, 2], {}, *ODD_NAMES, *ODD_NUMBERS)


def make(drawn: Random, folder: Path, sound: Path) -> list[str]:
    shutil.copy(sound / "graph.npz", folder)
    if drawn.random() < 0.3:
        shutil.copytree(sound / "search", folder / "made" / "search")
        _alter(drawn, folder / "made")
        return _SEARCH
    if drawn.random() < 0.3:
        shutil.copytree(sound / "stopped", folder / "made")
        _alter(drawn, folder / "made")
        return CONTINUED
    shutil.copytree(sound / "cache", folder / "cache")
    _alter(drawn, folder / "cache")
    return ["predict", str(sound / f"{drawn.choice(('whole', 'batched'))}.safetensors"), "graph.npz"]


def _alter(drawn: Random, folder: Path) -> None:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    for path in drawn.sample(files, min(len(files), drawn.randint(1, 3))):
        content, alter = path.read_bytes(), _ALTER.get(path.suffix)
        if alter is None or not content or drawn.random() < 0.2:
            path.write_bytes(damaged(drawn, content))
        else:
            path.write_bytes(alter(drawn, content))


def _array(drawn: Random, content: bytes) -> bytes:
    out = io.BytesIO()
    np.save(out, altered(drawn, np.load(io.BytesIO(content))))
    return out.getvalue()


def _archive(drawn: Random, content: bytes) -> bytes:
    with np.load(io.BytesIO(content)) as found:
        arrays = {key: found[key] for key in found.files}
    key = drawn.choice(sorted(arrays))
    arrays[key] = altered(drawn, arrays[key])
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


def _manifest(drawn: Random, content: bytes) -> bytes:
    found = json.loads(content)
    place = drawn.choice((found, found["shards"][0], found["shards"][0]["files"]))
    place[drawn.choice((*sorted(place), drawn.choice(ODD_NAMES)))] = drawn.choice(_VALUES)
    return json.dumps(found).encode()


def _training(drawn: Random, content: bytes) -> bytes:
    state, about = load(content), json.loads(metadata(content)["attempt"])
    if drawn.random() < 0.5:
        about[drawn.choice(sorted(about))] = drawn.choice(_VALUES)
    else:
        name = drawn.choice(sorted(state))
        state[name] = changed(drawn, state[name])
    return save(state, {"attempt": json.dumps(about)})


def _checkpoint(drawn: Random, content: bytes) -> bytes:
    found = torch.load(io.BytesIO(content), weights_only=True)
    state = found["state"]
    place = drawn.choice((found, state, state["module"], state["best_state"], state["optimizer"]))
    key = drawn.choice(sorted(place))
    value = place[key]
    place[key] = changed(drawn, value) if isinstance(value, torch.Tensor) else drawn.choice(_VALUES)
    out = io.BytesIO()
    torch.save(found, out)
    return out.getvalue()


_ALTER = {".npy": _array, ".npz": _archive, ".json": _manifest, ".safetensors": _training, ".pt": _checkpoint}
