import os
import subprocess
import sys
from functools import partial
from time import sleep

import pytest
import torch

from ncgnn.bench import Timing, interleaved, measure_memory, measure_steps
from ncgnn.bench.memory import peak_memory, peak_of_training, reset_peak
from ncgnn.errors import InputError
from ncgnn.models.ncgnn.config import Config
from ncgnn.provenance import machine
from ncgnn.train.reproducible import use_threads


def test_tasks_take_turns():
    done = []

    def task(name: str) -> None:
        done.append(name)
        sleep(0.06)

    timings = interleaved({name: partial(task, name) for name in "ab"}, repeats=3)
    assert "".join(done) == "aabb" + "ab" * 3  # two to warm up
    assert [len(timing.wall) for timing in timings.values()] == [3, 3]


def test_sleeping_takes_time_by_the_clock_but_no_computing():
    timing = interleaved({"sleep": lambda: sleep(0.06)}, repeats=1)["sleep"]
    assert timing.wall[0] >= 60 > timing.cpu[0]


def test_three_repeats_are_made_however_long_they_take():
    timings = interleaved({"a": lambda: sleep(0.06)}, repeats=9, seconds=0)
    assert len(timings["a"].wall) == 3


def test_a_row_has_median_and_minimum():
    row = Timing([3.0, 1.0, 2.0], [6.0, 4.0, 9.0]).row()
    expected = {"wall_median_ms": 2, "wall_min_ms": 1, "cpu_median_ms": 6, "cpu_min_ms": 4, "repeats": 3}
    assert row == expected


def test_each_model_has_a_row_for_each_task(karate):
    told: list[str] = []
    rows = measure_steps(karate, ["ncgnn", "pyg-gcn"], Config(hops=1), 1, told.append)
    assert [(row["model"], row["task"]) for row in rows] == [
        ("NCGNN", "step"),
        ("NCGNN", "predict"),
        ("GCN (PyG)", "step"),
        ("GCN (PyG)", "predict"),
    ]
    assert all((row["graph"], row["nodes"], row["edges"]) == ("karate", 34, 78) for row in rows)
    assert all(row["wall_min_ms"] > 0 for row in rows)
    assert "karate: repeat 1 of 1: GCN (PyG), predict" in told


@pytest.mark.skipif(not os.path.exists("/proc/self/clear_refs"), reason="only Linux tells the peak")
def test_the_peak_of_memory_is_found():
    before = reset_peak()
    block = torch.ones(64 * 2**18)  # 64 MB
    del block
    assert 60 < peak_memory() - before < 100


@pytest.mark.parametrize("model", ["ncgnn", "gat"])
def test_the_measured_process_trains_on_sparse_features(karate, model, tmp_path):
    parts = {key: karate[key] for key in ("x", "edge_index", "y", "train_mask", "class_names")}
    torch.save(parts | {"x": karate.x.to_sparse_csr()}, tmp_path / "graph.pt")
    found = peak_of_training(str(tmp_path / "graph.pt"), model, Config(hops=1).model_dump(), 1)
    assert list(found) == ["before_mb", "peak_mb", "steps"]
    assert found["before_mb"] > 50
    assert found["peak_mb"] >= 0


def test_a_process_that_fails_is_reported_in_one_line(karate, monkeypatch):
    monkeypatch.setattr(sys, "executable", "false")  # a program that fails
    with pytest.raises(InputError, match=r"the memory of GAT on karate failed with exit code 1: no message"):
        measure_memory(karate, ["gat"], Config())


def test_the_machine_is_described():
    with use_threads(1):
        found = machine()
    assert found["threads"] == 1
    assert found["torch"] == torch.__version__
    assert all(found[key] for key in ("date", "cpu", "cores", "python", "torch_geometric", "numba", "ncgnn"))


def test_threads_are_as_before_afterwards():
    before = torch.get_num_threads()
    with use_threads(2):
        assert torch.get_num_threads() == 2
    assert torch.get_num_threads() == before


def test_the_number_of_threads_stays_what_the_user_has_set():
    """To ask numba for its number of threads sets that of torch."""
    imports = "import torch; from ncgnn.train.reproducible import use_threads"
    code = f"{imports}; use_threads(None).__enter__(); print(torch.get_num_threads())"
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, env=environment)
    assert done.stdout == "1\n"
