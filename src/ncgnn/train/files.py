"""Files that survive a kill: each is written beside its place and moved there in one step. And the model file."""

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from ncgnn.errors import InputError

FORMAT = "ncgnn-model-1"


@contextmanager
def atomic(path: str | Path, mode: str = "w") -> Iterator[IO[Any]]:
    """Open a file for writing that appears at ``path`` only when the block ends well; otherwise nothing changes."""
    path = Path(path)
    encoding = None if "b" in mode else "utf-8"
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror})") from None
    try:
        with open(handle, mode, encoding=encoding) as file:
            yield file
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def write_model(path: str | Path, state: dict[str, Tensor], header: dict[str, Any]) -> None:
    """A safetensors file: the weights, and everything needed to use them as JSON in the header."""
    metadata = {"format": FORMAT} | {key: json.dumps(value) for key, value in header.items()}
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in state.items()}
    with atomic(path, "wb") as file:
        file.write(save(tensors, metadata))


def read_model(path: str | Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The weights and the header of a model file. Nothing in it is executed."""
    if not Path(path).is_file():
        raise InputError(f"{path}: no such model file")
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            state = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a mapping)
        header = {key: json.loads(value) for key, value in metadata.items() if key != "format"}
    except (SafetensorError, OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{path}: not an ncgnn model file, or a damaged one ({reason})") from None
    if metadata.get("format") != FORMAT:
        raise InputError(f"{path}: a safetensors file, but not an ncgnn model ({FORMAT})")
    return state, header


def load_weights(path: str | Path, model: torch.nn.Module, state: dict[str, Tensor]) -> None:
    try:
        model.load_state_dict(state)
    except RuntimeError:
        raise InputError(f"{path}: damaged model file: the weights do not fit its configuration") from None
