"""Saved weights: compared with the model they are for before anything of its size is made."""

from collections.abc import Callable, Mapping
from contextlib import suppress

import torch
from torch import Tensor, nn


def load_weights(build: Callable[[], nn.Module], state: Mapping[str, Tensor]) -> nn.Module:
    """The module with these weights; ``ValueError`` if they do not fit or are not finite."""
    with suppress(RuntimeError):  # a user's module may compute with its weights, which these lack
        _check_shapes(on_no_device(build), state)
    _check_finite(state)
    module = build()
    _check_shapes(module, state)
    module.load_state_dict(state)
    _check_finite(module.state_dict())  # they may have been of another precision
    return module


def on_no_device(build: Callable[[], nn.Module]) -> nn.Module:
    """The module with shapes but without values, which takes no memory."""
    with torch.device("meta"):
        return build()


def _check_shapes(module: nn.Module, state: Mapping[str, Tensor]) -> None:
    wanted = {name: tuple(tensor.shape) for name, tensor in module.state_dict().items()}
    found = {name: tuple(tensor.shape) for name, tensor in state.items()}
    for name in {**wanted, **found}:
        if wanted.get(name) != found.get(name):
            shapes = f"tensor {name!r} has shape {found.get(name, 'none')}, not {wanted.get(name, 'none')}"
            raise ValueError(f"the weights do not fit its configuration: {shapes}")


def _check_finite(state: Mapping[str, Tensor]) -> None:
    for name, tensor in state.items():
        if not torch.isfinite(tensor if tensor.dtype.itemsize > 1 else tensor.float()).all():
            raise ValueError(f"tensor {name!r} holds values that are not finite")
