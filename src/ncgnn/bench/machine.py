"""On what a measurement was made: the machine, the versions, the code."""

import os
import platform
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

_PACKAGES = ("torch", "torch-geometric", "numba", "ncgnn")
_CHECKOUT = Path(__file__).parents[3]


def machine() -> dict[str, Any]:
    """The columns that every row of a result ends with."""
    where = {"date": date.today().isoformat(), "cpu": _cpu(), "cores": os.cpu_count(), "load": _load()}
    versions = {name.replace("-", "_"): version(name) for name in _PACKAGES}
    return where | {"threads": torch.get_num_threads(), "python": platform.python_version()} | versions | _code()


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


def _code() -> dict[str, str]:
    """The commit, where the code runs from a checkout, with a plus sign if the sources differ from it."""
    if not (_CHECKOUT / ".git").exists():
        return {"commit": ""}
    commit, changed = _git("rev-parse", "--short=12", "HEAD"), _git("diff", "--name-only", "HEAD", "--", "src")
    return {"commit": commit + ("+" if changed else "")}


def _git(*arguments: str) -> str:
    command = ["git", "--no-optional-locks", "-C", str(_CHECKOUT), *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""
