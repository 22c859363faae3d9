"""Peak memory of training, each model in a process of its own."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from typing import Any

import torch
from torch_geometric.data import Data

from ncgnn.data.generated.unstructured import random_graph
from ncgnn.errors import InputError
from ncgnn.models import find_model, reference, resolve
from ncgnn.models.base.contestant import enter
from ncgnn.models.ncgnn.config import Config
from ncgnn.train.reproducible import use_threads

STEPS = 2  # the second meets the state of the optimiser
_KEPT = ("x", "edge_index", "edge_weight", "y", "train_mask", "name", "class_names")


def measure_memory(
    data: Data, models: Sequence[str], config: Config, tell: Callable[[str], None] = lambda text: None
) -> list[dict[str, Any]]:
    """One row for each model: megabytes that training takes beyond libraries and data, at its peak."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "graph.pt"
        torch.save({key: data[key] for key in _KEPT if data.get(key) is not None}, file)
        return [_in_own_process(data.name, file, model, config, tell) for model in models]


def _in_own_process(graph: str, file: Path, model: str, config: Config, tell: Callable[[str], None]) -> dict[str, Any]:
    title = find_model(model).title
    tell(f"{graph}: memory of {title}")
    order = {
        "file": str(file),
        "model": reference(model),
        "config": config.model_dump(),
        "threads": torch.get_num_threads(),
    }
    command = [sys.executable, "-m", "ncgnn.bench.memory", json.dumps(order)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise InputError(
            f"measuring the memory of {title} on {graph} failed with exit code {done.returncode}: {reason}"
        )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return {"graph": graph, "model": title} | found


def peak_of_training(file: str, model: str, config: dict[str, Any], threads: int) -> dict[str, float | int]:
    """Megabytes before training, with libraries and data in memory, and how many more at the peak of two steps."""
    settings, definition = Config.make(config), resolve(model)
    with use_threads(threads):
        data = Data(**torch.load(file))
        if not isinstance(settings, definition.settings_class):  # the others' users have dense features
            data.x = data.x.to_dense() if data.x.layout != torch.strided else data.x
        enter(definition.name, _small(data), settings).step()  # libraries and compiled code, which are not the model's
        before = reset_peak()
        contestant = enter(definition.name, data, settings)
        for _ in range(STEPS):
            contestant.step()
        return {"before_mb": round(before, 1), "peak_mb": round(peak_memory() - before, 1), "steps": STEPS}


def _small(data: Data) -> Data:
    """A graph that takes the same kernels."""
    small = random_graph(64, num_features=data.x.shape[1], num_classes=2)
    if data.x.layout != torch.strided:
        small.x = small.x.where(small.x > 1.5, 0).to_sparse_csr()
    return small


def reset_peak() -> float:
    """Let the peak begin at what is in use now, where the system can; what is in use."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
        return _status("VmRSS")
    except OSError:
        return peak_memory()


def peak_memory() -> float:
    """Most megabytes in use since the last reset."""
    try:
        return _status("VmHWM")
    except OSError:
        most = getrusage(RUSAGE_SELF).ru_maxrss
        return most / (2**20 if sys.platform == "darwin" else 1024)


def _status(key: str) -> float:
    """A line of the process's status, in megabytes."""
    lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{key}:"))


if __name__ == "__main__":
    print(json.dumps(peak_of_training(**json.loads(sys.argv[1]))))
