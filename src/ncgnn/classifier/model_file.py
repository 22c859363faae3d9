"""Model files: safetensors, so loading runs no code."""

import json
from collections import Counter
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, ValidationError, field_validator
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from ncgnn.calibration import Calibration
from ncgnn.errors import InputError
from ncgnn.files import atomic

_KEY = "ncgnn"  # one entry for all: safetensors writes several in random order


class Header(BaseModel):
    """What a model file holds besides the weights. A file of the first release names no model: it is NCGNN's."""

    format: Literal["ncgnn-model-1"] = "ncgnn-model-1"
    model: str = "ncgnn"
    config: dict[str, Any]
    class_names: list[str] = Field(min_length=2)
    feature_names: list[str] = Field(min_length=1)
    encoding: str | None
    calibration: Calibration | None = None
    nodes: int = Field(0, ge=0, le=2**31)  # of the graph that it was trained on; not told in files of the first release
    linked: list[str] | None = None  # ids of these nodes, for a model that reads rows of links
    known: dict[str, Annotated[int, Field(ge=0)]] | None = None  # classes by id, for a model that reads beliefs

    @field_validator("class_names")
    @classmethod
    def _check_classes(cls, names: list[str]) -> list[str]:
        twice = next((name for name, count in Counter(names).items() if count > 1), None)
        if twice is not None:
            raise ValueError(f"two classes are called {twice!r}")
        return names


def _unset(header: Header) -> set[str]:
    """Fields that files have only if they are used, so that others are the same byte for byte."""
    return {key for key in ("linked", "known") if getattr(header, key) is None}


def write_model(path: str | Path, state: dict[str, Tensor], header: Header) -> None:
    """A safetensors file: the weights, and everything needed to use them as JSON in the header."""
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in state.items()}
    with atomic(path, "wb") as file:
        file.write(save(tensors, {_KEY: header.model_dump_json(exclude=_unset(header))}))


def read_model(path: str | Path) -> tuple[dict[str, Tensor], Header]:
    """The weights and the header of a model file. Nothing in it is executed."""
    if not Path(path).is_file():
        raise InputError(f"{path}: no such model file")
    if Path(path).suffix in (".csv", ".tsv", ".parquet", ".npz", ".json"):
        raise InputError(f"{path}: not a model: use a run folder, or its model.safetensors")
    try:
        content = Path(path).read_bytes()  # in one go: a new file may take its place at any time
        state = load(content)
        end = 8 + int.from_bytes(content[:8], "little")
        metadata = json.loads(content[8:end]).get("__metadata__", {})
    except (SafetensorError, OSError, ValueError, RecursionError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{path}: not an ncgnn model file, or a damaged one ({reason})") from None
    if _KEY not in metadata:
        raise InputError(f"{path}: a safetensors file, but not an ncgnn model")
    return state, _header(path, metadata[_KEY])


def _header(path: str | Path, text: str) -> Header:
    try:
        return Header.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "header"
        raise InputError(f"{path}: damaged model file, or of another version: {place}: {first['msg']}") from None
