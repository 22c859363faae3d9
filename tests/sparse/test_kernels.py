import os
from threading import Barrier

import pytest
import scipy.sparse as sp
import torch

from ncgnn.sparse import CSR, kernels


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_kernels_work_in_a_forked_process():
    matrix = CSR.from_scipy(sp.eye(50), torch.float64)
    matrix @ torch.ones(50, 3, dtype=torch.float64)
    child = os.fork()
    if child == 0:
        out = matrix @ torch.ones(50, 3, dtype=torch.float64)
        os._exit(0 if bool((out == 1).all()) else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_chunks_are_worked_on_at_the_same_time(threads):
    together = Barrier(threads, timeout=60)
    results = kernels.in_chunks(threads, 100, lambda start, stop: (together.wait() >= 0, start, stop))
    assert [start for _, start, _ in results] == [0, *(stop for *_, stop in results[:-1])]
    assert results[-1][2] == 100


def test_more_work_wakes_more_threads_and_never_more_than_there_are(threads, monkeypatch):
    monkeypatch.setattr(kernels, "_WORK_PER_THREAD", 10)
    assert [kernels.threads_for(work) for work in (0, 9, 10, 10**9)] == [1, 1, min(threads, 2), threads]
