import pytest
import torch

from ncgnn import AttentionFilter, TopK
from ncgnn.models.base.row_files import row_files, rows_folder


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("NCGNN_CACHE", str(tmp_path))


def dense(rows, filter, nodes):
    return rows.operator(filter, nodes).to_dense()


@pytest.mark.parametrize("name", ["manifest.json", "000000000000-values.npy", "000000000000-columns.npy"])
def test_damaged_rows_are_prepared_again_with_a_note(karate, name):
    filter, nodes = AttentionFilter([1, 2], TopK(3)), torch.arange(34).numpy()
    first = dense(row_files(filter, karate), filter, nodes)
    (path,) = rows_folder().glob(f"*/{name}")
    content = path.read_bytes()
    for damaged in (b"", content[:-1], content[:-20] + bytes([content[-20] ^ 1]) + content[-19:]):
        path.write_bytes(damaged)
        with pytest.warns(UserWarning, match=f"{name}: is damaged.*; preparing them again"):
            again = dense(row_files(filter, karate), filter, nodes)
        assert torch.equal(again, first)
        assert path.read_bytes() == content
