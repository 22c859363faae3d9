"""Reproducible runs: random seed and number of threads."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def seeded(seed: int, device: torch.device | None = None) -> Iterator[None]:
    """Use ``seed`` for random numbers inside the block; the caller's random state is neither used nor changed."""
    is_cuda = device is not None and device.type == "cuda"
    with torch.random.fork_rng(devices=[device] if is_cuda else []):
        torch.manual_seed(seed)
        yield


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
