"""The device that models are trained on; everything before and after happens on the CPU."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from ncgnn.data.graph import SPLITS
from ncgnn.errors import InputError
from ncgnn.train.inputs import Inputs

DEVICES = ("cpu", "cuda", "mps")
CPU = torch.device("cpu")
_chosen: ContextVar[torch.device] = ContextVar("device", default=CPU)


def find_device(name: str) -> torch.device:
    """The device, if this machine and this build of PyTorch have it: ``cpu``, ``cuda``, ``cuda:1`` or ``mps``."""
    kind, _, number = name.partition(":")
    if kind not in DEVICES or (number and not number.isdecimal()):
        raise InputError(f"unknown device {name!r}: choose {', '.join(DEVICES[:-1])} or {DEVICES[-1]}", "device")
    if kind == "cuda" and int(number or 0) >= torch.cuda.device_count():
        raise InputError(f"there is no device {name!r}: {_why_no_cuda()}", "device")
    if kind == "mps" and not torch.backends.mps.is_available():
        raise InputError("there is no device 'mps': it needs PyTorch on a Mac with an Apple chip", "device")
    return torch.device(name)


def _why_no_cuda() -> str:
    if not torch.backends.cuda.is_built():
        return f"the installed PyTorch {torch.__version__} is built without CUDA"
    return f"PyTorch finds {torch.cuda.device_count()} NVIDIA GPUs"


@contextmanager
def on_device(device: torch.device) -> Iterator[None]:
    """Train on this device inside the block."""
    token = _chosen.set(device)
    try:
        yield
    except NotImplementedError as error:  # an operation that PyTorch does not have there
        raise InputError(f"{device} cannot train this model: {str(error).splitlines()[0]}", "device") from error
    finally:
        _chosen.reset(token)


def chosen_device() -> torch.device:
    """The device to train on."""
    return _chosen.get()


def moved(inputs: Inputs, split: Data, device: torch.device) -> tuple[Inputs, Data]:
    """What a training reads, on the device."""
    out = copy(split)
    for key in ("y", *SPLITS):
        if isinstance(split.get(key), Tensor):
            out[key] = split[key].to(device)
    return replace(inputs, arguments=_moved(inputs.arguments, device)), out


def _moved(value: Any, device: torch.device) -> Any:
    """Tensors, operators and prepared filters, alone or in lists, on the device."""
    if isinstance(value, list | tuple):
        return type(value)(_moved(part, device) for part in value)
    if isinstance(value, Tensor):
        return value.to(device)
    return value.to(device, torch.get_default_dtype()) if hasattr(value, "to") else value
