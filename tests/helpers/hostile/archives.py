"""Hostile ``.npz`` files."""

import io
import warnings
import zipfile
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from helpers.hostile.odd import ODD_NAMES, ODD_NUMBERS, damaged
from helpers.hostile.sound import CHEAP

_TYPES = ("f4", "f8", "i1", "i8", "u8", "b1", "c8", "U5", "S5", "M8[s]", "f2")


def make(drawn: Random, folder: Path, sound: Path) -> list[str]:
    with np.load(sound / "graph.npz") as found:
        arrays = {key: found[key] for key in found.files}
    for _ in range(drawn.randint(1, 3)):
        key = drawn.choice(sorted(arrays))
        arrays[key] = altered(drawn, arrays[key])
    packed = io.BytesIO()
    np.savez_compressed(packed, **arrays)
    content = packed.getvalue()
    content = drawn.choice((bytes, bytes, declared_larger, damaged_bytes))(content) if drawn.random() < 0.4 else content
    (folder / "bad.npz").write_bytes(content)
    model = str(sound / "ncgnn.safetensors")
    alone = ["check", "bad.npz"], ["train", "bad.npz", *CHEAP, "--out", "made"]
    with_model = (["predict", model, "bad.npz"], ["explain", model, "bad.npz", "--node", "n1"])
    return drawn.choice((*alone, *with_model, ["serve", model, "bad.npz", "--port", "0"]))


def altered(drawn: Random, array: np.ndarray) -> np.ndarray:
    """With an odd value, of another type, shape or size."""
    return drawn.choice(_CHANGES)(drawn, array)


def _with_odd(drawn: Random, array: np.ndarray) -> np.ndarray:
    """One odd value."""
    out = array.astype(object)
    value = drawn.choice(ODD_NAMES if array.dtype.kind == "U" else ODD_NUMBERS)
    if out.ndim == 0:
        out = np.array(value, object)
    elif out.size:
        out.flat[drawn.randrange(out.size)] = value
    return _typed(out, array.dtype)


def _typed(values: np.ndarray, like: np.dtype) -> np.ndarray:
    kind = np.str_ if like.kind == "U" else like
    try:
        return _cast(values, kind)
    except (OverflowError, ValueError, TypeError):
        return values.astype(np.str_ if like.kind == "U" else np.float64)


def _cast(values: np.ndarray, kind: Any) -> np.ndarray:
    """Values of another type, whatever is lost."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
        return values.astype(kind)


def _of_other_type(drawn: Random, array: np.ndarray) -> np.ndarray:
    try:
        return _cast(array, drawn.choice(_TYPES))
    except (ValueError, TypeError, UnicodeEncodeError):
        return np.zeros(array.shape, drawn.choice(_TYPES))


def _of_other_shape(drawn: Random, array: np.ndarray) -> np.ndarray:
    if drawn.random() < 0.5:
        return array.reshape(-1)[: drawn.randrange(array.size + 1)]
    return np.broadcast_to(array, (2, *array.shape)).copy()


def _huge(drawn: Random, array: np.ndarray) -> np.ndarray:
    return np.array([24, drawn.choice((10**6, 10**9, 10**18))])


_CHANGES = (_with_odd, _with_odd, _of_other_type, _of_other_shape, _huge)


def damaged_bytes(content: bytes) -> bytes:
    return damaged(Random(content[:200]), content)


def declared_larger(content: bytes) -> bytes:
    """Every array says that it has a billion rows."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b"'shape': (", b"'shape': (1000000000, ", 1))
    return out.getvalue()
