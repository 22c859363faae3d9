import pytest
import torch

from ncgnn.sparse import kernels


@pytest.fixture(autouse=True, params=[1, 3], ids=["one thread", "three threads"])
def threads(request, monkeypatch):
    """Every statement about kernels holds on one thread and on several, whatever the size of the example."""
    monkeypatch.setattr(kernels, "_WORK_PER_THREAD", 1)
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)
