"""Several processes that train one model, started by torchrun; without it, there is one.

All of them run the same program. They share out the nodes of each batch and tell each other what they found; everything
else is computed by each of them, from the same numbers.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from contextvars import ContextVar
from datetime import timedelta
from typing import IO, Any, TypeVar

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.rendezvous import rendezvous
from torch.nn.parallel import DistributedDataParallel

from ncgnn.errors import InputError
from ncgnn.train.meeting import fresh

T = TypeVar("T")

PATIENCE = timedelta(hours=2)
"""How long a process waits for the others, which may read their files more slowly; that one has ended is noticed at
once."""

_LOST = "another process has ended or cannot be reached: start the command again, and it continues"

_joined: ContextVar[bool] = ContextVar("joined", default=False)


@contextmanager
def joined() -> Iterator[None]:
    """Connected with the other processes of torchrun. Only the first one prints, and what is wrong is said once."""
    backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
    store = None
    try:
        found, number, count = next(rendezvous("env://"))
        store = fresh(found, number, count)
        dist.init_process_group(backend, store=store, rank=number, world_size=count, timeout=PATIENCE)
        _joined.set(True)
        with open(os.devnull, "w") as nowhere, _printing_to(nowhere if number else None):
            yield
    except InputError as error:
        _end_if_said(store, str(error))
        raise
    except RuntimeError as error:
        if not isinstance(error, dist.DistError) and "gloo" not in str(error):
            raise
        _end_if_said(store, _LOST)
        raise InputError(_LOST) from error
    finally:
        _joined.set(False)
        if dist.is_initialized():
            dist.destroy_process_group()


@contextmanager
def _printing_to(nowhere: IO[str] | None) -> Iterator[None]:
    with redirect_stdout(nowhere or sys.stdout), redirect_stderr(nowhere or sys.stderr):
        yield


def _end_if_said(store: Any, message: str) -> None:
    """End this process silently if another one is about to say the same; without a store, nobody can be asked."""
    if store is None:
        return
    try:
        others = store.add(message, 1) - 1
    except RuntimeError:  # the machine of the first process is gone
        return
    if others:
        raise SystemExit(2)


@contextmanager
def alone() -> Iterator[None]:
    """As if there were no other process, for what only the first one does."""
    token = _joined.set(False)
    try:
        yield
    finally:
        _joined.reset(token)


def is_shared() -> bool:
    """Whether torchrun has started this process, with others or alone."""
    return _joined.get()


def world() -> int:
    """The number of processes."""
    return dist.get_world_size() if _joined.get() else 1


def rank() -> int:
    """The number of this process."""
    return dist.get_rank() if _joined.get() else 0


def is_first_here() -> bool:
    """Whether this is the first process on its machine, which keeps checkpoints there."""
    return not _joined.get() or os.environ.get("LOCAL_RANK", "0") == "0"


def share(nodes: np.ndarray) -> np.ndarray:
    """The part of some nodes that this process computes; the parts of all, one after another, are all nodes."""
    return np.array_split(nodes, world())[rank()]


def gathered(own: Tensor) -> Tensor:
    """The rows of all processes, one after another.

    Gradients flow only into this process's rows. :func:`replicated` averages the gradients of parameters over the
    processes, but their sum is needed, so the gradient is multiplied by the number of processes.
    """
    count = world()
    if count == 1:
        return own
    sizes = torch.empty(count, dtype=torch.int64)
    dist.all_gather_into_tensor(sizes, torch.tensor([len(own)]))
    padded = own.new_zeros(int(sizes.max()), *own.shape[1:])
    padded[: len(own)] = own.detach()
    parts = [torch.empty_like(padded) for _ in range(count)]
    dist.all_gather(parts, padded)
    rows = [part[:size] for part, size in zip(parts, sizes.tolist(), strict=True)]
    if own.requires_grad:
        weighted = own.view_as(own)
        weighted.register_hook(lambda gradient: gradient * count)
        rows[rank()] = weighted
    return torch.cat(rows)


def agreed(value: T, source: int = 0) -> T:
    """What one process says, by default the first."""
    if world() == 1:
        return value
    said = [value]
    dist.broadcast_object_list(said, source)
    return said[0]


def collected(value: T) -> list[T]:
    """What all processes say; only the first one is told."""
    if world() == 1:
        return [value]
    said: list[Any] | None = [None] * world() if rank() == 0 else None
    dist.gather_object(value, said)
    return said or []


def newest(found: tuple[int, Any] | None) -> Any:
    """What the process with the greatest number has found; it is only sent if not all have it."""
    number = -1 if found is None else found[0]
    numbers = gathered(torch.tensor([number])).tolist()
    best = max(numbers)
    own = None if found is None or number < best else found[1]
    return own if min(numbers) == best else agreed(own, numbers.index(best))


def replicated(module: nn.Module) -> nn.Module:
    """The module with gradients that are averaged over the processes; all begin with the weights of the first."""
    return DistributedDataParallel(module, broadcast_buffers=False) if world() > 1 else module


def original(module: nn.Module) -> nn.Module:
    """The module itself, where it was :func:`replicated`."""
    inner: nn.Module = module.module if isinstance(module, DistributedDataParallel) else module
    return inner
