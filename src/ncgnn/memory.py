"""How much memory there is, so that a file or a setting that asks for more is refused and not tried."""

import os
import resource
from collections.abc import Iterator
from contextlib import suppress
from math import inf, isfinite, nan
from pathlib import Path

from ncgnn.errors import InputError
from ncgnn.text import several

_PROCESS = 200 << 20  # bytes of one that has imported torch

_CGROUPS = (  # limit and use, of version 2 and 1
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"), Path("/sys/fs/cgroup/memory/memory.usage_in_bytes")),
)


def available_bytes() -> float:
    """Memory that this process may still take: what the machine has free, within the limits of its control group and
    of ``ulimit``; nan if unknown."""
    return min((left for left in _limits() if isfinite(left)), default=nan)


def check_memory(needed: float, what: str, advice: str, *options: str) -> None:
    """:class:`InputError` with both numbers if there is less memory than ``needed`` bytes."""
    free = available_bytes()
    if needed > free:
        raise InputError(f"{what} would take {_size(needed)} of memory, and {_size(free)} are free: {advice}", *options)


def check_processes(count: int) -> None:
    """:class:`InputError` if there is less memory than this many more processes take before they do anything."""
    check_memory(count * _PROCESS, several(count, "process"), "start fewer", "jobs")


def _limits() -> Iterator[float]:
    yield _entry("/proc/meminfo", "MemAvailable")
    for most, used in _CGROUPS:
        with suppress(OSError, ValueError):  # "max" is no limit
            yield int(most.read_text()) - int(used.read_text())
    for limit, size in ((resource.RLIMIT_AS, "VmSize"), (resource.RLIMIT_DATA, "VmData")):
        most_bytes = resource.getrlimit(limit)[0]
        if most_bytes != resource.RLIM_INFINITY:
            yield max(0.0, most_bytes - _entry(f"/proc/{os.getpid()}/status", size))


def _entry(file: str, name: str) -> float:
    """A number of kilobytes in a file of the system, in bytes."""
    try:
        lines = Path(file).read_text("utf-8").splitlines()
        return next(int(line.split()[1]) * 1024.0 for line in lines if line.startswith(f"{name}:"))
    except (OSError, StopIteration):
        return inf


def _size(size: float) -> str:
    return f"{size / 2**30:.1f} GB" if size >= 2**30 else f"{size / 2**20:.0f} MB"
