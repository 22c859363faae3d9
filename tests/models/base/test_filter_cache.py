import os
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from ncgnn import AttentionFilter, DiffusionFilter, NCGNNClassifier, Threshold, TopK
from ncgnn.errors import InputError
from ncgnn.models.base import filter_cache
from ncgnn.models.base.cached import checksum
from ncgnn.models.base.filter_cache import filter_folder, prepare_filter
from ncgnn.nn.filter import GraphFilter

SPARSIFIED = [
    lambda: AttentionFilter([1, 2], TopK(3)),
    lambda: AttentionFilter([1, 2], Threshold(0.05)),
    lambda: DiffusionFilter(0.2, sparsify=TopK(4)),
    lambda: DiffusionFilter(0.2, steps=3, sparsify=Threshold(0.01)),
    lambda: DiffusionFilter(kind="heat", sparsify=TopK(4)),
]


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "filters"


@pytest.fixture
def graph(karate) -> Data:
    """The karate club with weights."""
    weight = torch.rand(karate.edge_index.shape[1] // 2, generator=torch.Generator().manual_seed(0)) + 0.1
    ends = karate.edge_index[:, karate.edge_index[0] < karate.edge_index[1]]
    both = torch.cat([ends, ends.flip(0)], dim=1)
    return Data(edge_index=both, edge_weight=torch.cat([weight, weight]), num_nodes=34)


def forbid_preparing(monkeypatch):
    def refuse(*arguments):
        raise AssertionError("a filter was prepared")

    monkeypatch.setattr(GraphFilter, "prepare", refuse)


def parts(prepared):
    matrix = prepared.matrix
    return [matrix.pattern.indptr, matrix.pattern.indices, matrix.values]


def assert_same_bits(one, other):
    assert (one.made_by, one.num_nodes, one.is_implicit) == (other.made_by, other.num_nodes, other.is_implicit)
    assert type(one.matrix) is type(other.matrix)
    assert one.matrix.pattern.num_columns == other.matrix.pattern.num_columns
    for a, b in zip(parts(one), parts(other), strict=True):
        assert a.dtype == b.dtype
        assert a.numpy().tobytes() == b.numpy().tobytes()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("make", SPARSIFIED)
def test_a_filter_comes_back_bit_for_bit_and_without_being_prepared(make, dtype, graph, folder, monkeypatch):
    first = prepare_filter(make(), graph, dtype, folder)
    assert_same_bits(first, make().prepare(graph.edge_index, 34, graph.edge_weight, dtype))
    forbid_preparing(monkeypatch)
    filt = make()
    again = prepare_filter(filt, graph, dtype, folder)
    assert_same_bits(again, first)
    assert torch.equal(filt(again) @ torch.eye(34, dtype=dtype), make()(first) @ torch.eye(34, dtype=dtype))


@pytest.mark.parametrize("filt", [AttentionFilter(2), DiffusionFilter(0.1), DiffusionFilter(0.1, steps=3)], ids=repr)
def test_filters_that_are_not_sparsified_are_not_kept(filt, graph, folder):
    assert prepare_filter(filt, graph, torch.float32, folder).is_implicit
    assert not folder.exists()


def changed(graph, **values):
    other = graph.clone()
    for key, value in values.items():
        other[key] = value
    return other


def test_no_setting_and_no_other_graph_gets_the_filter_of_another(graph, folder):
    fewer = changed(graph, edge_index=graph.edge_index[:, 1:], edge_weight=graph.edge_weight[1:])
    renumbered = changed(graph, edge_index=33 - graph.edge_index)
    unweighted = Data(edge_index=graph.edge_index, num_nodes=34)
    larger = changed(graph, num_nodes=35)
    heavier = changed(graph, edge_weight=graph.edge_weight * 2)
    filters = [
        *(make() for make in SPARSIFIED),
        AttentionFilter([1, 2], TopK(4)),
        AttentionFilter([1, 3], TopK(3)),
        DiffusionFilter(0.3, sparsify=TopK(4)),
        DiffusionFilter(0.2, steps=4, sparsify=Threshold(0.01)),
        DiffusionFilter(kind="heat", time=1.0, sparsify=TopK(4)),
        DiffusionFilter(0.2, sparsify=TopK(4), tolerance=1e-3),
    ]
    graphs = [graph, fewer, renumbered, unweighted, larger, heavier]
    wanted = [(filt, data, dtype) for filt in filters for data in graphs for dtype in (torch.float32, torch.float64)]
    for _ in range(2):
        for filt, data, dtype in wanted:
            fresh = filt.prepare(data.edge_index, data.num_nodes, data.get("edge_weight"), dtype)
            assert_same_bits(prepare_filter(filt, data, dtype, folder), fresh)
    assert len(list(folder.iterdir())) == len(wanted)


def test_what_is_learned_does_not_decide_what_is_stored(graph, folder, monkeypatch):
    prepare_filter(AttentionFilter([1, 2], TopK(3)), graph, torch.float32, folder)
    forbid_preparing(monkeypatch)
    prepare_filter(AttentionFilter([1, 2], TopK(3), prior=[1.0, 2.0]), graph, torch.float32, folder)


def stored(graph, folder):
    first = prepare_filter(SPARSIFIED[0](), graph, torch.float32, folder)
    (path,) = folder.iterdir()
    return first, path


def flip_a_value(content):
    middle = content.rindex(b"values.npy", 0, content.rindex(b"values.npy")) + 300
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[: len(content) // 2],
        lambda content: content[:-1],
        lambda content: b"not a filter at all",
        lambda content: b"\x80\x04N.",  # a pickle
        flip_a_value,
    ],
    ids=["empty", "half", "last byte", "text", "pickle", "one bit"],
)
def test_a_damaged_file_is_announced_and_written_anew(damage, graph, folder, monkeypatch):
    first, path = stored(graph, folder)
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    with pytest.warns(UserWarning, match="preparing it again"):
        assert_same_bits(prepare_filter(SPARSIFIED[0](), graph, torch.float32, folder), first)
    forbid_preparing(monkeypatch)
    assert_same_bits(prepare_filter(SPARSIFIED[0](), graph, torch.float32, folder), first)


def altered(path, with_checksum, **change):
    """Store an entry again with other arrays."""
    with np.load(path) as file:
        arrays = dict(file)
    for name, edit in change.items():
        arrays[name] = edit(arrays[name].copy())
    if with_checksum:
        arrays["checksum"] = checksum([arrays[name] for name in ("indptr", "indices", "values")])
    with path.open("wb") as file:
        np.savez(file, **arrays)


def put(position, value):
    def edit(array):
        array.flat[position] = value
        return array

    return edit


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"indices": put(0, 34)}, "nodes that the graph does not have"),
        ({"indices": put(0, -1)}, "nodes that the graph does not have"),
        ({"indptr": put(1, 10**6)}, "rows have the wrong length"),
        ({"indptr": put(-1, 3)}, "rows have the wrong length"),
        ({"indptr": lambda array: array[:-1]}, "arrays have the wrong shape"),
        ({"indices": lambda array: array[:-1]}, "arrays have the wrong shape"),
        ({"values": lambda array: array[None]}, "arrays have the wrong shape"),
        ({"values": put(0, np.nan)}, "values that are not finite"),
        ({"values": lambda array: array.astype(np.float64)}, "numbers have the wrong type"),
        ({"indices": lambda array: array.astype(np.float32)}, "numbers have the wrong type"),
    ],
)
def test_an_entry_that_is_no_filter_of_the_graph_is_prepared_again_though_its_checksum_is_right(
    change, message, graph, folder
):
    first, path = stored(graph, folder)
    altered(path, with_checksum=True, **change)
    with pytest.warns(UserWarning, match=f"preparing it again .*{message}"):
        assert_same_bits(prepare_filter(SPARSIFIED[0](), graph, torch.float32, folder), first)


def test_an_entry_with_other_values_is_prepared_again(graph, folder):
    first, path = stored(graph, folder)
    altered(path, with_checksum=False, values=put(0, 0.5))
    with pytest.warns(UserWarning, match="its checksum is wrong"):
        assert_same_bits(prepare_filter(SPARSIFIED[0](), graph, torch.float32, folder), first)


def test_a_file_under_a_wrong_name_is_not_believed(graph, folder):
    first, path = stored(graph, folder)
    prepare_filter(SPARSIFIED[1](), graph, torch.float32, folder)
    (other,) = set(folder.iterdir()) - {path}
    path.write_bytes(other.read_bytes())
    with pytest.warns(UserWarning, match="belongs to something else"):
        assert_same_bits(prepare_filter(SPARSIFIED[0](), graph, torch.float32, folder), first)


def test_an_array_that_is_no_archive_is_not_believed(graph, folder):
    first, path = stored(graph, folder)
    with path.open("wb") as file:
        np.save(file, np.zeros(3))
    with pytest.warns(UserWarning, match="preparing it again"):
        assert_same_bits(prepare_filter(SPARSIFIED[0](), graph, torch.float32, folder), first)


def test_a_pipe_in_the_place_of_an_entry_is_not_waited_for(graph, folder):
    first, path = stored(graph, folder)
    path.unlink()
    os.mkfifo(path)
    with pytest.warns(UserWarning, match="nothing is cached"):
        assert_same_bits(prepare_filter(SPARSIFIED[0](), graph, torch.float32, folder), first)


def test_a_folder_that_cannot_be_made_costs_nothing_but_one_warning(graph, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("default")
        for make in SPARSIFIED:
            found = prepare_filter(make(), graph, torch.float32, tmp_path / "file" / "filters")
            assert_same_bits(found, make().prepare(graph.edge_index, 34, graph.edge_weight))
    assert len(said) == 1
    assert "NCGNN_CACHE" in str(said[0].message)


@contextmanager
def someone_else() -> Iterator[None]:
    """Nothing is forbidden to root; so a test that is run by root is somebody else for a while."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_folder_one_may_only_read_still_serves(graph, monkeypatch):
    with TemporaryDirectory() as place:  # pytest's own folders are closed to others
        folder = Path(place)
        first, path = stored(graph, folder)
        path.chmod(0o444)
        folder.chmod(0o555)
        with someone_else():
            with pytest.warns(UserWarning, match="not writable"):
                prepare_filter(SPARSIFIED[1](), graph, torch.float32, folder)
            forbid_preparing(monkeypatch)
            assert_same_bits(prepare_filter(SPARSIFIED[0](), graph, torch.float32, folder), first)
        folder.chmod(0o755)


def test_a_full_folder_one_may_only_read_ends_nothing(graph, monkeypatch):
    with TemporaryDirectory() as place:
        folder = Path(place)
        _, path = stored(graph, folder)
        monkeypatch.setattr(filter_cache, "LARGEST_FOLDER", path.stat().st_size - 1)
        folder.chmod(0o555)
        with someone_else(), pytest.warns(UserWarning, match="not writable"):
            prepare_filter(SPARSIFIED[1](), graph, torch.float32, folder)
        folder.chmod(0o755)
        assert list(folder.iterdir()) == [path]


def test_an_empty_variable_means_no_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("NCGNN_CACHE", "")
    assert filter_folder() is None
    monkeypatch.setenv("NCGNN_CACHE", str(tmp_path))
    assert filter_folder() == tmp_path / "filters"
    monkeypatch.delenv("NCGNN_CACHE")
    assert filter_folder().parts[-3:] == (".cache", "ncgnn", "filters")


def test_the_filters_used_longest_ago_make_room(graph, folder, monkeypatch):
    paths: list[Path] = []
    for make in SPARSIFIED[:3]:
        known = set(paths)
        prepare_filter(make(), graph, torch.float32, folder)
        (new,) = set(folder.iterdir()) - known
        os.utime(new, (len(paths), len(paths)))
        paths.append(new)
    prepare_filter(SPARSIFIED[0](), graph, torch.float32, folder)  # no longer the oldest
    room = sum(path.stat().st_size for path in paths)
    monkeypatch.setattr(filter_cache, "LARGEST_FOLDER", room)
    prepare_filter(SPARSIFIED[3](), graph, torch.float32, folder)
    left = set(folder.iterdir())
    assert paths[0] in left
    assert paths[1] not in left
    assert sum(path.stat().st_size for path in left) <= room


def test_fitting_and_predicting_use_what_is_kept(karate, small, monkeypatch, tmp_path):
    monkeypatch.setenv("NCGNN_CACHE", str(tmp_path))
    first = NCGNNClassifier(**small, top_k=5).fit(karate)
    assert len(list((tmp_path / "filters").iterdir())) == 1
    lengths = first.decision_function(karate)
    forbid_preparing(monkeypatch)
    again = NCGNNClassifier(**small, top_k=5).fit(karate)
    np.testing.assert_array_equal(again.decision_function(karate), lengths)


def test_a_filter_that_does_not_suit_the_graph_is_refused_and_not_kept(karate, small, monkeypatch, tmp_path):
    monkeypatch.setenv("NCGNN_CACHE", str(tmp_path))
    monkeypatch.setattr("ncgnn.sparse.pagerank.EXACT_LIMIT", 10)
    with pytest.raises(InputError, match="does not suit this graph"):
        NCGNNClassifier(**small, filter="diffusion", epsilon=0.1).fit(karate)
    assert not (tmp_path / "filters").exists()


def test_several_writers_and_readers_at_once_see_whole_filters(graph, folder):
    expected = SPARSIFIED[0]().prepare(graph.edge_index, 34, graph.edge_weight, torch.float32)
    with ThreadPoolExecutor(8) as pool:
        found = pool.map(lambda _: prepare_filter(SPARSIFIED[0](), graph, torch.float32, folder), range(40))
        for prepared in found:
            assert_same_bits(prepared, expected)
    assert len(list(folder.iterdir())) == 1


WRITER = """
import sys
from pathlib import Path
import torch
from ncgnn import AttentionFilter, TopK, load_dataset
from ncgnn.models.base import filter_cache
from ncgnn.models.base.cached import checksum
data = load_dataset("karate")
filter_cache._read = lambda *arguments: None  # so that each turn writes
print("ready", flush=True)
while True:
    filter_cache.prepare_filter(AttentionFilter([1, 2], TopK(3)), data, torch.float32, Path(sys.argv[1]))
"""


@pytest.mark.long
def test_two_processes_that_write_the_same_filter_and_are_killed_leave_it_whole(karate, folder):
    expected = AttentionFilter([1, 2], TopK(3)).prepare(karate.edge_index, 34, dtype=torch.float32)
    command = [sys.executable, "-W", "error::UserWarning", "-c", WRITER, str(folder)]
    writers = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
    try:
        for writer in writers:
            assert writer.stdout.readline() == b"ready\n"
        until = time.monotonic() + 3
        while time.monotonic() < until:
            assert_same_bits(prepare_filter(AttentionFilter([1, 2], TopK(3)), karate, torch.float32, folder), expected)
        assert all(writer.poll() is None for writer in writers)
    finally:
        for writer in writers:
            writer.kill()
            writer.communicate()
    assert_same_bits(prepare_filter(AttentionFilter([1, 2], TopK(3)), karate, torch.float32, folder), expected)
