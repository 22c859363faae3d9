import gc

import pytest
import torch

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
