"""The command line under torchrun, in processes of its own."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from safetensors.torch import load_file
from torch import Tensor


def torchrun(
    arguments: Sequence[object], folder: Path, processes: int = 2, options: Sequence[object] = ()
) -> list[str]:
    """What to type: on this machine alone, on a port that is free."""
    place = ["--standalone"] if not options else []
    start = [sys.executable, "-m", "torch.distributed.run", *place, "--nproc-per-node", processes, *options]
    return [str(word) for word in (*start, "-m", "ncgnn", *arguments)]


def run(arguments: Sequence[object], folder: Path, processes: int | None = None, **options: Any) -> Any:
    """A command that has ended, under torchrun if a number of processes is given."""
    plain = [sys.executable, "-m", "ncgnn", *map(str, arguments)]
    command = plain if processes is None else torchrun(arguments, folder, processes)
    return subprocess.run(
        command, cwd=folder, env=environment(), capture_output=True, text=True, timeout=600, **options
    )


def environment() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1"}


def weights(run: Path) -> dict[str, Tensor]:
    return load_file(run / "model.safetensors")
