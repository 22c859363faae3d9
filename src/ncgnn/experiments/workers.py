"""Run many runs in single-threaded processes, locally or on a cluster."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from math import log
from typing import Any, Literal

from joblib import Parallel, delayed, parallel_config

from ncgnn.data.named.registry import find_info
from ncgnn.errors import InputError
from ncgnn.experiments.cells import Cell
from ncgnn.experiments.expected import expected_seconds
from ncgnn.experiments.one_run import Failure, Run, perform
from ncgnn.experiments.protocol import Protocol, plan, version_at_hand
from ncgnn.experiments.recipes import recipe
from ncgnn.experiments.rows import RunRow, RunStore
from ncgnn.extras import install
from ncgnn.memory import check_processes

Backend = Literal["loky", "dask"]


def missing(cells: Iterable[Cell], protocol: Protocol, store: RunStore) -> list[Run]:
    """The runs of a protocol that are not in the store: all with the first seed before any with the second, so that an
    interrupted reproduction still covers all splits; of these, cheap ones first, and graph by graph."""
    rows = store.read()
    done, seconds = {row.key for row in rows}, expected_seconds(rows)
    runs = [
        Run(cell, split, seed, settings, version_at_hand(cell.graph))
        for cell in sorted(cells, key=_cost)
        if (settings := recipe(cell)) is not None
        for split, seed in plan(cell, protocol)
    ]
    return sorted((run for run in runs if run.key not in done), key=lambda run: (run.seed, _rank(seconds(run.cell))))


def _rank(seconds: float) -> int:
    """Runs of the same rank are about as expensive: each has up to four times the cost of the one before."""
    return max(0, int(log(max(seconds, 1.0), 4)))


def run_all(
    runs: Sequence[Run],
    store: RunStore,
    jobs: int = 1,
    backend: Backend = "loky",
    scheduler: str | None = None,
    on_result: Callable[[RunRow | Failure], None] = lambda result: None,
) -> list[Failure]:
    """Run, store each row as soon as it is finished, and return the failed runs."""
    recipes = {run.recipe.hash: run.recipe for run in runs}
    failures: list[Failure] = []
    with _workers(jobs, backend, scheduler):
        parallel = Parallel(return_as="generator_unordered", batch_size=1, pre_dispatch="2*n_jobs")
        for result in parallel(delayed(perform)(run) for run in runs):
            if isinstance(result, Failure):
                failures.append(result)
            else:
                store.keep_config(result.config_hash, recipes[result.config_hash].toml())
                store.append(result)
            on_result(result)
    return failures


def _cost(cell: Cell) -> tuple[int, str]:
    info = find_info(cell.dataset)
    return -1 if info is None else info.cost, cell.graph


@contextmanager
def _workers(jobs: int, backend: Backend, scheduler: str | None) -> Iterator[None]:
    if scheduler is None:
        check_processes(jobs - 1)
    if backend == "loky":
        with parallel_config("loky", n_jobs=jobs, inner_max_num_threads=1):
            yield
        return
    with _dask_client(jobs, scheduler), parallel_config("dask", n_jobs=-1):
        yield


def _dask_client(jobs: int, scheduler: str | None) -> Any:
    try:
        from distributed import Client
    except ImportError:
        raise InputError(f"the dask backend requires Dask: {install('cluster')}") from None
    if scheduler is None:
        return Client(n_workers=jobs, threads_per_worker=1, dashboard_address=None)
    try:
        client = Client(scheduler, timeout=10)
    except (OSError, ValueError) as error:
        raise InputError(f"scheduler {scheduler}: no Dask scheduler found ({error})", "scheduler") from None
    if any(threads > 1 for threads in client.nthreads().values()):  # they would share one random state
        client.close()
        raise InputError(f"scheduler {scheduler}: its workers have several threads: start them with one thread each")
    return client
