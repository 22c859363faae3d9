import gc
import os
import weakref
from signal import alarm
from threading import Event, Thread

import numpy as np
import pytest
import torch

import ncgnn
from ncgnn.models import PreparedGraph
from ncgnn.models.ncgnn import MODEL, Config
from ncgnn.sparse import pool

SHAPE = (1 << 9, 1 << 10)  # 2 MB of float32


@pytest.fixture(autouse=True)
def empty_pool():
    gc.collect()
    pool.clear()
    yield
    pool.clear()


def test_memory_comes_back_when_its_last_tensor_is_gone():
    like = torch.empty(0)
    first = pool.empty(like, *SHAPE)
    place, view = first.data_ptr(), first[3:]
    del first
    assert pool.empty(like, *SHAPE).data_ptr() != place  # the view still uses it
    del view
    assert pool.empty(like, *SHAPE).data_ptr() == place


def test_memory_lent_before_the_pool_was_cleared_does_not_come_back():
    lent = pool.empty(torch.empty(0), *SHAPE)
    pool.clear()
    del lent
    assert not any(pool._free.values())


def test_clearing_frees_what_is_unused_while_other_memory_is_lent():
    lent, back = (pool.empty(torch.empty(0), *SHAPE) for _ in range(2))
    del back
    unused = weakref.ref(next(iter(pool._free.values()))[0])
    pool.clear()
    assert unused() is None
    assert lent.shape == SHAPE


def test_tensors_that_live_together_share_nothing():
    like = torch.empty(0)
    first, second = pool.empty(like, *SHAPE).fill_(1), pool.empty(like, *SHAPE).fill_(2)
    assert (first == 1).all()
    assert (second == 2).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_tensors_are_as_asked_and_aligned(dtype):
    tensor = pool.empty(torch.empty(0, dtype=dtype), *SHAPE)
    assert (tensor.shape, tensor.dtype, tensor.is_contiguous()) == (SHAPE, dtype, True)
    assert tensor.data_ptr() % 64 == 0


def test_small_tensors_are_left_to_torch():
    pool.empty(torch.empty(0), 8, 8)
    assert not pool._free


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_child_does_not_wait_for_a_lock_that_its_parent_held():
    held, done = Event(), Event()

    def hold():
        with pool._lock:
            held.set()
            done.wait(60)

    holder = Thread(target=hold)
    holder.start()
    held.wait()
    child = os.fork()
    if child == 0:
        alarm(20)  # ends the child should it wait
        pool.empty(torch.empty(0), *SHAPE)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    done.set()
    holder.join()
    assert status == 0


def test_what_memory_held_before_changes_nothing(monkeypatch):
    """Training with every buffer reused, and full of NaN when it is."""
    data = ncgnn.split_per_class(ncgnn.load_dataset("karate"), train=3, val=8)
    settings = {"hops": 2, "epochs": 4, "num_capsules": 4, "primary_channels": 8, "dropout": 0.5}
    expected = ncgnn.NCGNNClassifier(**settings).fit(data).decision_function(data)
    monkeypatch.setattr(pool, "_SMALLEST", 1)
    take_back, taken = pool._take_back, []

    def spoil(home, size, block):
        block.fill(0xFF)
        taken.append(size)
        take_back(home, size, block)

    monkeypatch.setattr(pool, "_take_back", spoil)
    assert np.array_equal(ncgnn.NCGNNClassifier(**settings).fit(data).decision_function(data), expected)
    assert len(taken) > 20


def test_training_gives_its_memory_back(monkeypatch):
    monkeypatch.setattr(pool, "_SMALLEST", 1)
    data = ncgnn.split_per_class(ncgnn.load_dataset("karate"), train=3, val=8)
    config = Config(hops=2, epochs=2)
    MODEL.fit(MODEL.prepare(PreparedGraph.of(data), config), data, config)
    gc.collect()
    assert not any(pool._free.values())
