import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from helpers.sociable_runs import PLACE, perform_in_company
from helpers.stored_rows import row as stored_row
from ncgnn.classifier import NCGNNClassifier
from ncgnn.errors import InputError
from ncgnn.experiments import one_run, workers
from ncgnn.experiments.cells import Cell, all_cells
from ncgnn.experiments.one_run import Run
from ncgnn.experiments.protocol import draw_split, graph, plan
from ncgnn.experiments.recipes import recipe
from ncgnn.experiments.rows import RunRow, RunStore
from ncgnn.experiments.workers import missing, run_all
from ncgnn.models.ncgnn.config import Config
from ncgnn.train.reproducible import use_threads

CLUB = tuple(Cell("test", "karate", "60/20/20", model) for model in ("GCN", "NCGNN-A"))
SCRIPT = """
import sys
from pathlib import Path
from ncgnn.experiments.cells import Cell
from ncgnn.experiments.workers import missing, run_all
from ncgnn.experiments.rows import RunStore

cells = [Cell("test", "karate", "60/20/20", model) for model in ("GCN", "NCGNN-A")]
store = RunStore(Path(sys.argv[1]))
store.repair()
run_all(missing(cells, "core", store), store, jobs=2)
"""
DASK = SCRIPT.replace('"core", store)', '"quick", store)[::5]').replace("jobs=2", 'jobs=1, backend="dask"')


def without_times(store: RunStore) -> list[RunRow]:
    return sorted(row._replace(seconds="", date="") for row in store.read())


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
        store.append(row._replace(graph="another"))
    assert len(missing(CLUB, "quick", store)) == 20


def test_what_a_hash_stands_for_is_kept_beside_the_rows(undisturbed):
    kept = {path.stem: path for path in undisturbed.configs.iterdir()}
    assert set(kept) == {row.config_hash for row in undisturbed.read()}
    row = next(row for row in undisturbed.read() if row.model == "NCGNN-A")
    config = Config.read(kept[row.config_hash])
    assert config.hash == row.config_hash
    data = draw_split(graph("karate"), CLUB[1], int(row.split))
    with use_threads(1):
        again = NCGNNClassifier.from_config(config.model_copy(update={"seed": int(row.seed)})).fit(data).best_
    assert (f"{again.epoch}", f"{again.val_accuracy:.6f}") == (row.epoch, row.val_accuracy)


def test_one_run_that_diverges_ends_no_other(tmp_path, monkeypatch):
    def train(graph, recipe, seed, real=one_run.train_recipe):
        if seed == 1:
            raise InputError("training diverged")
        return real(graph, recipe, seed)

    monkeypatch.setattr(one_run, "train_recipe", train)
    seen: list[RunRow] = []
    store = RunStore(tmp_path)
    runs = [run for run in missing(CLUB[:1], "core", store) if run.split < 2]
    failures = run_all(runs, store, on_result=seen.append)
    assert [(failure.run.split, failure.run.seed) for failure in failures] == [(0, 1), (1, 1)]
    assert [(row.split, row.seed) for row in store.read()] == [("0", "0"), ("1", "0")]
    assert len(seen) == 4
    assert {run.seed for run in missing(CLUB[:1], "core", store) if run.split < 2} == {1}


def test_a_mistake_of_ours_is_not_swallowed(tmp_path, monkeypatch):
    monkeypatch.setattr(one_run, "train_recipe", lambda graph, recipe, seed: 1 / 0)
    store = RunStore(tmp_path)
    with pytest.raises(ZeroDivisionError):
        run_all(missing(CLUB, "quick", store), store)


@pytest.mark.long
def test_two_processes_give_what_one_gives(undisturbed, tmp_path, monkeypatch):
    monkeypatch.setenv(PLACE, str(tmp_path))
    monkeypatch.setattr(workers, "perform", perform_in_company)
    store = RunStore(tmp_path)
    run_all(some(store), store, jobs=2)
    processes = {path.stem for path in tmp_path.glob("*.here")}
    assert len(processes) == 2
    assert str(os.getpid()) not in processes
    assert without_times(store) == without_times(undisturbed)


@pytest.fixture
def planned(tmp_path, monkeypatch):
    """What is missing of all tables, where no graph needs to be at hand."""
    monkeypatch.setattr(workers, "version_at_hand", lambda name: "any")
    return lambda protocol: missing(all_cells(), protocol, RunStore(tmp_path))


def test_cheap_runs_come_first_and_among_these_graph_by_graph(planned, tmp_path):
    """What stored runs say: on Texas a GAT takes 40 seconds, everything else one, as on Cora."""
    store = RunStore(tmp_path)
    for cell in all_cells():
        if (cell.table, cell.dataset) in {("5", "texas"), ("3", "cora")} and recipe(cell) is not None:
            store.append(
                stored_row(cell, 99, 0.5)._replace(seconds="40" if str(cell).endswith("48/32/20, GAT") else "1")
            )
    runs = [run.cell for run in planned("quick") if run.cell.dataset in ("texas", "cora") and run.cell.table in "35"]
    names = [(cell.dataset, cell.model == "GAT") for cell in runs]
    changes = [name for before, name in zip([None, *names], names, strict=False) if before != name]
    assert changes[0] == ("texas", False)
    assert changes[-1] == ("texas", True)
    assert all(name[0] == "cora" for name in changes[1:-1])


def test_every_cell_is_run_with_one_seed_on_all_splits_before_any_with_two(planned):
    runs = planned("core")
    quick = planned("quick")
    assert runs[: len(quick)] == quick
    assert {run.seed for run in quick} == {0}
    assert len(runs) == sum(len(plan(cell, "core")) for cell in {run.cell for run in runs})


@pytest.mark.long
def test_dask_gives_what_joblibs_processes_give(undisturbed, tmp_path):
    pytest.importorskip("distributed", reason="Dask is not installed: pip install '.[cluster]'")
    script = tmp_path / "script.py"  # a file, because the workers import what started them
    script.write_text("def main():" + DASK.replace("\n", "\n    ") + "\nif __name__ == '__main__':\n    main()\n")
    subprocess.run([sys.executable, str(script), str(tmp_path)], check=True, timeout=300)
    assert without_times(RunStore(tmp_path)) == without_times(undisturbed)


@pytest.mark.long
def test_workers_of_a_cluster_have_one_thread_each(tmp_path):
    """Runs in one process would draw from each other's random numbers."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed: pip install '.[cluster]'")
    options = {"processes": False, "dashboard_address": None}
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=2, **options) as cluster,
        pytest.raises(InputError, match="several threads: start them with one thread each"),
    ):
        run_all([], RunStore(tmp_path), backend="dask", scheduler=cluster.scheduler_address)


def start(folder: Path) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-c", SCRIPT, str(folder)], start_new_session=True)


@pytest.mark.long
def test_two_at_once_never_store_a_run_twice(tmp_path):
    both = [start(tmp_path), start(tmp_path)]
    assert [process.wait(timeout=300) for process in both] == [0, 0]
    keys = [row.key for row in RunStore(tmp_path).read()]
    assert len(keys) == len(set(keys)) == 40


def kill_at_work(folder: Path, delay: float) -> int:
    """Kill a pool of workers soon after it has stored another row; how many there are then."""
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
def test_workers_killed_ten_times_ends_with_the_rows_of_undisturbed_ones(tmp_path):
    calm, killed = tmp_path / "calm", tmp_path / "killed"
    assert start(calm).wait(timeout=300) == 0
    moments = random.Random(0)
    counts = [kill_at_work(killed, moments.uniform(0, 0.5)) for _ in range(10)]
    assert sum(count < 40 for count in counts) >= 5, counts  # kills that fell into the work
    assert len(set(counts)) > 3  # and at different stages of it
    assert start(killed).wait(timeout=300) == 0
    assert without_times(RunStore(killed)) == without_times(RunStore(calm))
    assert all(path.read_bytes().endswith(b"\n") for path in (killed / "runs").glob("*.csv"))
