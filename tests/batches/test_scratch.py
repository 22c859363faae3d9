from shutil import disk_usage

import pytest
import torch

from ncgnn import InputError
from ncgnn.batches.scratch import scratch


def test_it_holds_zeros_and_leaves_no_file(tmp_path):
    found = scratch(tmp_path, 3, 4, dtype=torch.int64)
    assert torch.equal(found, torch.zeros(3, 4, dtype=torch.int64))
    found[1] = 7
    assert found.sum() == 28
    assert scratch(tmp_path, 0, 4).shape == (0, 4)
    assert not list(tmp_path.iterdir())


def test_what_does_not_fit_on_the_disk_is_refused_in_one_line_before_it_is_written(tmp_path):
    free = disk_usage(tmp_path).free
    with pytest.raises(InputError) as error:
        scratch(tmp_path, free, 2, dtype=torch.uint8)
    assert str(error.value).startswith(
        f"{tmp_path}: no room for {2 * free / 2**20:.0f} MB of temporary files (No space"
    )


def test_a_disk_that_others_fill_is_one_line_too(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.posix_fallocate", full, raising=False)
    with pytest.raises(InputError, match="no room for 0 MB of temporary files"):
        scratch(tmp_path, 5)
