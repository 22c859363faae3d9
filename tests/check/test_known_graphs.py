"""The table of known graphs in docs/check.md says what is found in them."""

import pytest

from helpers.docs_examples import section, table
from ncgnn.check import check_graph
from ncgnn.data import DATASETS, load_dataset, usual_split
from ncgnn.data.named.packaged import data_folders
from ncgnn.models.ncgnn.config import Config

SMALL = Config.make({"hops": 2, "num_capsules": 2, "primary_channels": 8, "class_channels": 4})
ROWS = table(section("docs/check.md", "Known graphs"), "graph")


@pytest.mark.parametrize("name", dict.fromkeys(row[0] for row in ROWS))
def test_what_is_said_of_a_graph_is_what_is_found(benchmark, name):
    report = check_graph(usual_split(load_dataset(name)), SMALL, data_folders())
    found = [[name, f.level, f.what] for f in report.findings if f.level != "note"] or [[name, "", "nothing but notes"]]
    right = "\n".join(f"| {' | '.join(row)} |" for row in found)
    assert [row for row in ROWS if row[0] == name] == found, f"the rows of {name} should be\n{right}"


def test_every_benchmark_graph_at_hand_is_in_the_table(benchmark):
    at_hand = {path.stem for path in benchmark.glob("*.npz")} & set(DATASETS)
    assert at_hand <= {row[0] for row in ROWS}
