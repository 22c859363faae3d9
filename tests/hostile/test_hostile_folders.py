"""Folders of the Open Graph Benchmark that are not what they say."""

import gzip
import os
import shutil

import pytest

MANY = gzip.compress(b"0\n" * (1 << 24), 1) * 12


@pytest.fixture
def ogb(sound, tmp_path):
    shutil.copytree(sound / "ogb-tables", tmp_path / "ogb")
    return tmp_path / "ogb"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("raw/node-label.csv.gz", gzip.compress(b"1000000000\n" + b"0\n" * 23), "class numbers from 0 to 999 at most"),
        ("raw/node-label.csv.gz", gzip.compress(b"inf\n" + b"0\n" * 23), "class numbers from 0 to 999 at most"),
        ("raw/node-label.csv.gz", MANY, r"reading \d+ MB of numbers would take .* of memory, and .* are free"),
        ("raw/num-node-list.csv.gz", gzip.compress(b"24,24\n"), "num-node-list.csv.gz says 24, 24 nodes"),
        ("raw/node-feat.csv.gz", gzip.compress(b"1\n")[:-9], "node-feat.csv.gz: cannot be read"),
        ("mapping/nodeidx2paperid.csv.gz", gzip.compress(b"a,b\n0,\xff\n"), "nodeidx2paperid.csv.gz: "),
    ],
    ids=["label", "infinite label", "packed", "counts", "cut", "utf8"],
)
def test_a_file_that_is_not_what_it_says(refuses, ogb, name, content, message):
    (ogb / name).write_bytes(content)
    refuses("train", "ogb", "--search", "none", "--out", "made", message=message)


@pytest.mark.parametrize("name", ["raw/edge.csv.gz", "mapping/nodeidx2paperid.csv.gz"])
def test_a_pipe_is_not_waited_for(refuses, ogb, name):
    (ogb / name).unlink()
    os.mkfifo(ogb / name)
    refuses("check", "ogb", message=f"{name}: cannot be read .not a regular file.")
