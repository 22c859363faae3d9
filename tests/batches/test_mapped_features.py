import numpy as np
import pytest
import torch

from ncgnn import InputError
from ncgnn.batches import map_features, mapped_features
from ncgnn.batches.features import feature_rows

NODES = np.array([0, 2, 5])


@pytest.fixture(params=["dense", "sparse"])
def x(request) -> torch.Tensor:
    torch.manual_seed(0)
    x = torch.randn(6, 4) * (torch.rand(6, 4) < 0.4)
    return x if request.param == "dense" else x.to_sparse_csr()


def dense(x: torch.Tensor) -> torch.Tensor:
    return x if x.layout == torch.strided else x.to_dense()


def test_mapped_features_are_the_same(x, tmp_path):
    found = map_features(tmp_path / "x", x)
    assert found.layout == x.layout
    assert torch.equal(dense(found), dense(x))
    assert torch.equal(dense(mapped_features(tmp_path / "x")), dense(x))


def test_rows_of_some_nodes(x, tmp_path):
    for features in (x, map_features(tmp_path / "x", x)):
        assert torch.equal(dense(feature_rows(features, NODES)), dense(x)[torch.from_numpy(NODES)])


def test_other_features_replace_those_in_the_folder(x, tmp_path):
    map_features(tmp_path / "x", x)
    assert torch.equal(dense(map_features(tmp_path / "x", 2 * x)), 2 * dense(x))


def test_damaged_features_are_one_line(x, tmp_path):
    map_features(tmp_path / "x", x)
    path = next((tmp_path / "x").glob("*.npy"))
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(InputError, match=f"{path.name}: is damaged"):
        mapped_features(tmp_path / "x")
