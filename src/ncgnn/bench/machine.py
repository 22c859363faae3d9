"""On what a measurement was made: the machine, the versions, the code."""

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

import torch

from ncgnn.provenance import commit, versions

_PACKAGES = ("torch", "torch-geometric", "numba", "ncgnn")


def machine() -> dict[str, Any]:
    """The columns that every row of a result ends with."""
    where = {"date": date.today().isoformat(), "cpu": _cpu(), "cores": os.cpu_count(), "load": _load()}
    packages = {name.replace("-", "_"): number for name, number in versions(*_PACKAGES).items()}
    python = {"threads": torch.get_num_threads(), "python": platform.python_version()}
    return where | python | packages | {"commit": commit()}


@contextmanager
def use_threads(threads: int | None) -> Iterator[None]:
    """Compute with this many threads, torch and the kernels, which take as many; None leaves it as it is."""
    before = torch.get_num_threads()
    if threads is not None:
        torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _load() -> float:
    """How many processes have been busy over the last minute: more than none spoils what is measured now."""
    return round(os.getloadavg()[0], 2)


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
