from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event, Timer

import numpy as np
import pytest
import torch
from filelock import FileLock

from helpers.random_graphs import random_graph
from ncgnn import AttentionFilter, DiffusionFilter, InputError, TopK
from ncgnn.batches import stored_rows
from ncgnn.batches.shards import Shards
from ncgnn.batches.written import forget_damaged
from ncgnn.nn import diffusion

FILTERS = [
    AttentionFilter([0, 1, 3], TopK(5)),
    AttentionFilter([1, 2]),
    DiffusionFilter(steps=3, sparsify=TopK(4)),
    DiffusionFilter(sparsify=TopK(4)),
]


@pytest.fixture(scope="module")
def a():
    return random_graph(97, 200, seed=0, weighted=True)


def rows_of(filter, a, folder, size=20):
    return stored_rows(filter, lambda: a, a.shape[0], folder, "graph", size)


@pytest.mark.parametrize("filter", FILTERS, ids=repr)
def test_rows_in_shards_are_those_of_the_whole_filter(filter, a, tmp_path):
    whole = filter._explicit_operator(filter._explicit(a, torch.float32)).to_dense()
    rows = rows_of(filter, a, tmp_path / "rows")
    for nodes in (np.arange(97), np.array([0, 3, 19, 20, 21, 96]), np.array([], int)):
        found = rows.operator(filter, nodes)
        torch.testing.assert_close(found.to_dense(), whole[torch.from_numpy(nodes)], atol=1e-6, rtol=0)


def test_rows_by_push(a, tmp_path, monkeypatch):
    monkeypatch.setattr(diffusion, "EXACT_LIMIT", 10)
    filter = DiffusionFilter(sparsify=TopK(4), tolerance=1e-7)
    whole = filter._explicit(a, torch.float32).to_dense()
    found = rows_of(filter, a, tmp_path / "rows").operator(filter, np.arange(97)).to_dense()
    torch.testing.assert_close(found, whole, atol=1e-6, rtol=0)


def test_an_interrupted_writing_continues(a, tmp_path):
    folder, filter, made = tmp_path / "rows", FILTERS[0], []

    class Stopping(AttentionFilter):
        def rows(self, a):
            def make(part):
                made.append(part.start)
                if len(made) == 3:
                    raise KeyboardInterrupt
                return filter.rows(a)(part)

            return make

    stopping = Stopping([0, 1, 3], TopK(5))
    with pytest.raises(KeyboardInterrupt):
        rows_of(stopping, a, folder)
    with pytest.raises(InputError, match="unfinished"):
        Shards(folder, "graph")
    rows_of(stopping, a, folder)
    assert made == [0, 20, 40, 40, 60, 80]
    assert not list(folder.glob(".*"))


def test_several_writers_share_the_shards_out(a, tmp_path):
    folder, made, both = tmp_path / "rows", [], Barrier(2)

    class Slow(AttentionFilter):
        def rows(self, a):
            rows = FILTERS[0].rows(a)

            def make(part):
                if part.start < 40:
                    both.wait(10)  # neither goes on before the other makes a shard, too
                made.append(part.start)
                return rows(part)

            return make

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda _: rows_of(Slow([0, 1, 3], TopK(5)), a, folder), range(2)))
    assert sorted(made) == [0, 20, 40, 60, 80]
    alone = rows_of(FILTERS[0], a, tmp_path / "alone").of(np.arange(97))
    for rows in found:
        np.testing.assert_array_equal(rows.of(np.arange(97)).values, alone.values)
    assert not list(folder.glob("*.lock"))


def test_a_shard_that_another_writer_leaves_unfinished_is_made(a, tmp_path):
    folder = tmp_path / "rows"
    folder.mkdir()
    begun, ended = Event(), Event()

    def other():
        with FileLock(folder / "000000000020.lock"):
            begun.set()
            ended.wait(10)

    with ThreadPoolExecutor(1) as pool:
        pool.submit(other)
        begun.wait(10)
        Timer(0.2, ended.set).start()
        found = rows_of(FILTERS[0], a, folder)
    assert len(found.of(np.arange(97)).counts) == 97


def test_what_is_stored_is_not_made_again(a, tmp_path):
    rows_of(FILTERS[0], a, tmp_path / "rows")
    stored_rows(FILTERS[0], lambda: pytest.fail("made again"), 97, tmp_path / "rows", "graph")


def damage(path):
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def test_damaged_missing_and_foreign_shards_are_one_line(a, tmp_path):
    folder, other, filter = tmp_path / "rows", tmp_path / "other", FILTERS[0]
    rows_of(filter, a, folder)
    rows_of(filter, random_graph(97, 300, seed=1), other)
    path = folder / "000000000040-values.npy"
    before = path.read_bytes()
    path.write_bytes((other / path.name).read_bytes())
    message(folder, f"{path}: is damaged, or of another graph or filter: delete the folder rows")
    path.write_bytes(before)
    damage(path)
    message(folder, f"{path}: is damaged, or of another")
    path.unlink()
    message(folder, f"{path}: is missing")
    manifest = (folder / "manifest.json").read_text()
    for other in ("{", manifest.replace('"first": 20', '"first": 21')):
        (folder / "manifest.json").write_text(other)
        message(folder, "manifest.json: is damaged")
    (folder / "manifest.json").unlink()
    message(folder, "manifest.json: is missing")


def test_only_damaged_shards_are_made_again(a, tmp_path):
    folder, made = tmp_path / "rows", []

    class Told(AttentionFilter):
        def rows(self, a):
            rows = FILTERS[0].rows(a)

            def told(part):
                made.append(part.start)
                return rows(part)

            return told

    filter = Told([0, 1, 3], TopK(5))
    before = rows_of(filter, a, folder).of(np.arange(97))
    damage(folder / "000000000040-values.npy")
    (folder / "000000000080-sums.npy").unlink()
    forget_damaged(folder)
    found = rows_of(filter, a, folder).of(np.arange(97))
    assert made == [0, 20, 40, 60, 80, 40, 80]
    np.testing.assert_array_equal(found.values, before.values)
    (folder / "manifest.json").write_text("{")
    forget_damaged(folder)
    assert rows_of(filter, a, folder).num_nodes == 97


def message(folder, text):
    with pytest.raises(InputError) as error:
        Shards(folder, "graph")
    assert text in str(error.value)
    assert "\n" not in str(error.value)


def test_rows_of_another_graph_are_refused(a, tmp_path):
    rows_of(FILTERS[0], a, tmp_path / "rows")
    with pytest.raises(InputError, match="belongs to another graph or filter"):
        Shards(tmp_path / "rows", "another graph")


def test_exact_pagerank_needs_few_entries(a):
    with pytest.raises(ValueError, match="keep the top k"):
        DiffusionFilter().rows(a)
