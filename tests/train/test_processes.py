import pytest
from torch.distributed import DistNetworkError

from ncgnn import InputError
from ncgnn.train import processes
from ncgnn.train.processes import is_shared, joined


def test_a_machine_that_cannot_be_reached_is_one_line(monkeypatch):
    def unreachable(url):
        raise DistNetworkError("failed to connect to first-machine:29500")

    monkeypatch.setattr(processes, "rendezvous", unreachable)
    said = "another process has ended or cannot be reached: start the command again"
    with pytest.raises(InputError, match=said), joined():
        pass
    assert not is_shared()
