import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from ncgnn.experiments.cells import Cell, all_cells
from ncgnn.experiments.farm import missing, run_all
from ncgnn.experiments.rows import Row, RunStore
from ncgnn.experiments.single import Run

CLUB = tuple(Cell("test", "karate", "60/20/20", model) for model in ("GCN", "NCGNN-A"))
SCRIPT = """
import sys
from pathlib import Path
from ncgnn.experiments.cells import Cell
from ncgnn.experiments.farm import missing, run_all
from ncgnn.experiments.rows import RunStore

cells = [Cell("test", "karate", "60/20/20", model) for model in ("GCN", "NCGNN-A")]
store = RunStore(Path(sys.argv[1]))
store.repair()
run_all(missing(cells, "core", store), store, jobs=2)
"""
DASK = SCRIPT.replace('"core", store)', '"quick", store)[::5]').replace("jobs=2", 'jobs=1, backend="dask"')


def without_times(store: RunStore) -> list[Row]:
    return sorted(row._replace(seconds="") for row in store.read())


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory) -> RunStore:
    """Some runs of the karate club, made in this process; not to be changed."""
    store = RunStore(tmp_path_factory.mktemp("undisturbed"))
    run_all(some(store), store)
    return store


def some(store: RunStore) -> list[Run]:
    """Every fifth run, of both models."""
    return missing(CLUB, "quick", store)[::5]


def test_a_second_start_runs_only_what_is_missing(undisturbed, tmp_path):
    store = RunStore(tmp_path)
    everything = missing(CLUB, "quick", store)
    for row in undisturbed.read():
        store.append(row)
    done = {row.key for row in store.read()}
    assert [run.key for run in everything if run.key not in done] == [r.key for r in missing(CLUB, "quick", store)]
    assert len(done) == 4
    assert len(missing(CLUB, "core", store)) == 40 - 4


def test_rows_of_older_settings_are_not_counted(undisturbed, tmp_path):
    store = RunStore(tmp_path)
    for row in undisturbed.read():
        store.append(row._replace(config_hash="older"))
    assert len(missing(CLUB, "quick", store)) == 20


@pytest.mark.long
def test_two_processes_give_what_one_gives(undisturbed, tmp_path):
    store, seen = RunStore(tmp_path), []
    run_all(some(store), store, jobs=2, on_row=seen.append)
    assert len(seen) == 4
    assert without_times(store) == without_times(undisturbed)


def test_the_runs_of_a_graph_follow_each_other_cheap_ones_first(tmp_path):
    graphs = [run.cell.graph for run in missing(all_cells(), "quick", RunStore(tmp_path))]
    changes = [graph for before, graph in zip([None, *graphs], graphs, strict=False) if before != graph]
    assert len(changes) == len(set(graphs))
    assert (changes[0], changes[-1]) == ("texas", "amazon-computers")


@pytest.mark.long
def test_dask_gives_what_joblibs_processes_give(undisturbed, tmp_path):
    pytest.importorskip("distributed", reason="Dask is not installed: pip install 'ncgnn[cluster]'")
    script = tmp_path / "script.py"  # a file, because the workers import what started them
    script.write_text("def main():" + DASK.replace("\n", "\n    ") + "\nif __name__ == '__main__':\n    main()\n")
    subprocess.run([sys.executable, str(script), str(tmp_path / "runs")], check=True, timeout=300)
    assert without_times(RunStore(tmp_path / "runs")) == without_times(undisturbed)


def start(folder: Path) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-c", SCRIPT, str(folder)], start_new_session=True)


@pytest.mark.long
def test_two_at_once_never_store_a_run_twice(tmp_path):
    both = [start(tmp_path), start(tmp_path)]
    assert [process.wait(timeout=300) for process in both] == [0, 0]
    keys = [row.key for row in RunStore(tmp_path).read()]
    assert len(keys) == len(set(keys)) == 40


def kill_at_work(folder: Path, delay: float) -> int:
    """Kill a farm soon after it has stored another row; how many there are then."""
    store = RunStore(folder)
    before, process = len(store.read()), start(folder)
    while process.poll() is None and len(store.read()) == before:
        time.sleep(0.01)
    time.sleep(delay)
    with suppress(ProcessLookupError):  # it may have finished
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return len(store.read())


@pytest.mark.long
def test_a_farm_killed_ten_times_ends_with_the_rows_of_an_undisturbed_one(tmp_path):
    calm, killed = tmp_path / "calm", tmp_path / "killed"
    assert start(calm).wait(timeout=300) == 0
    moments = random.Random(0)
    counts = [kill_at_work(killed, moments.uniform(0, 0.5)) for _ in range(10)]
    assert sum(count < 40 for count in counts) >= 5, counts  # kills that fell into the work
    assert len(set(counts)) > 3  # and at different stages of it
    assert start(killed).wait(timeout=300) == 0
    assert without_times(RunStore(killed)) == without_times(RunStore(calm))
    assert all(path.read_bytes().endswith(b"\n") for path in killed.glob("*.csv"))
