"""Reproducible runs: random numbers and number of threads."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from ncgnn.train.processes import rank

_APART = 1_000_003
"""Between the seeds of processes, whose dropout would otherwise be the same."""


@contextmanager
def seeded(seed: int, device: torch.device | None = None) -> Iterator[None]:
    """Use ``seed`` for random numbers inside the block; the caller's random state is neither used nor changed."""
    is_cuda = device is not None and device.type == "cuda"
    with torch.random.fork_rng(devices=[device] if is_cuda else []):
        torch.manual_seed(seed + _APART * rank())
        yield


def random_state() -> list[torch.Tensor]:
    """The state of the random numbers on the CPU and, if it is in use, on the GPU."""
    return [torch.get_rng_state(), *([torch.cuda.get_rng_state()] if torch.cuda.is_initialized() else [])]


def set_random_state(states: list[torch.Tensor]) -> None:
    """Continue with a state that :func:`random_state` returned."""
    torch.set_rng_state(states[0])
    if len(states) > 1:
        torch.cuda.set_rng_state(states[1])


@contextmanager
def use_threads(threads: int | None) -> Iterator[None]:
    """Use this many threads in torch and the kernels inside the block; None changes nothing."""
    before = torch.get_num_threads()
    if threads is not None:
        torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)
