"""Where a result comes from: code, versions, machine, day."""

import os
import platform
import re
import subprocess
from datetime import UTC, date, datetime
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

_MEASURED = ("torch", "torch-geometric", "numba", "ncgnn")
_CHECKOUT = Path(__file__).parents[2]


def commit() -> str:
    """The commit, where the code runs from a checkout, with a plus sign if the sources differ from it; else nothing."""
    if not (_CHECKOUT / ".git").exists():
        return ""
    changed = _git("diff", "--name-only", "HEAD", "--", "src")
    return _git("rev-parse", "--short=12", "HEAD") + ("+" if changed else "")


def versions(*packages: str) -> dict[str, str]:
    return {package: metadata.version(package) for package in packages}


def machine() -> dict[str, Any]:
    """The columns that every row of a result ends with."""
    import torch

    where = {"date": date.today().isoformat(), "cpu": _cpu(), "cores": os.cpu_count(), "load": _load()}
    packages = {name.replace("-", "_"): number for name, number in versions(*_MEASURED).items()}
    python = {"threads": torch.get_num_threads(), "python": platform.python_version()}
    return where | python | packages | {"commit": commit()}


def origin() -> dict[str, str]:
    """The last columns of a row: versions, commit (a plus sign says that the sources differ from it), machine, day."""
    return _code() | {"date": datetime.now(UTC).date().isoformat()}


@cache
def _code() -> dict[str, str]:
    here = machine()
    versions = {"ncgnn": here["ncgnn"], "torch": here["torch"], "pyg": here["torch_geometric"]}
    return versions | {"numpy": metadata.version("numpy"), "commit": here["commit"], "cpu": short_name(here["cpu"])}


def short_name(cpu: str) -> str:
    """A processor without trade marks and clock rate."""
    return " ".join(re.sub(r"\((R|TM)\)|\b(CPU|Processor)\b|@.*", " ", cpu, flags=re.IGNORECASE).split())


def _git(*arguments: str) -> str:
    command = ["git", "--no-optional-locks", "-C", str(_CHECKOUT), *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


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
