import numba
import pytest
import torch

from ncgnn.sparse import kernels


@pytest.fixture(autouse=True, params=["one thread", "all threads"])
def threads(request, monkeypatch):
    """Every statement about kernels holds for both compiled forms, whatever the size of the example."""
    monkeypatch.setattr(kernels, "ENTRIES_PER_THREAD", 1 if request.param == "all threads" else 1 << 60)
    if request.param == "all threads" and min(numba.get_num_threads(), torch.get_num_threads()) < 2:
        pytest.skip("this machine has one core")
