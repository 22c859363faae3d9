import pytest
import torch
from benchmarks import step_variants, table
from benchmarks.page import fill
from benchmarks.step_variants import BF16, ORDER, SELDOM, in_bf16, render, reordered, seldom

from ncgnn.data import complete, load_dataset, split_per_class
from ncgnn.models import PreparedGraph, Sizes
from ncgnn.models.ncgnn import MODEL, Config
from ncgnn.sparse import Dense
from ncgnn.train import loop


@pytest.fixture
def data():
    return split_per_class(complete(load_dataset("karate")), train=3, val=8)


def test_a_graph_with_other_node_numbers_has_the_same_scores(data):
    torch.manual_seed(0)
    config = Config.make({"num_capsules": 2})
    module = MODEL.build(Sizes.of(data), config)
    one, other = (
        MODEL.scores(module, MODEL.prepare(PreparedGraph.of_complete(graph), config))[0]
        for graph in (data, reordered(data))
    )
    order = one.sum(dim=1).argsort(), other.sum(dim=1).argsort()
    assert not torch.equal(one, other)
    torch.testing.assert_close(one[order[0]], other[order[1]])


def test_products_in_bf16_are_near_those_in_full_precision():
    matrix, weight = Dense(torch.rand(30, 20)), torch.rand(20, 4)
    exact = matrix.product(weight)
    with in_bf16():
        rounded = matrix.product(weight)
    assert not torch.equal(rounded, exact)
    torch.testing.assert_close(rounded, exact, rtol=0.02, atol=0.02)
    assert torch.equal(matrix.product(weight), exact)


def test_between_two_validations_the_last_one_counts(data):
    config = Config.make({"num_capsules": 2, "epochs": 12})
    inputs = MODEL.prepare(PreparedGraph.of_complete(data), config)
    with seldom():
        found = [epoch.val_loss for epoch in MODEL.fit(inputs, data, config).history]
    expected = [epoch.val_loss for epoch in MODEL.fit(inputs, data, config).history]
    assert found == [expected[number - number % step_variants.EVERY] for number in range(12)]
    assert loop._validate.__name__ == "_validate"


def test_the_table_has_means_over_splits():
    row = {"variant": BF16, "graph": "amazon-photo", "epoch_seconds": 0.3, "changed_epoch_seconds": 0.2}
    stamp = {key: "x" for key in ("date", "cpu", "cores", "threads", "python", "torch", "torch_geometric", "numba")}
    rows = [
        row | stamp | {"load": 1.0, "commit": "c", "test_accuracy": 0.9, "changed_test_accuracy": 0.9 + gain}
        for gain in (0.01, 0.03)
    ]
    found = render(rows)
    assert f"| {BF16} | amazon-photo | 2 | 1.50 | +2.0 ± 1.0 |" in found
    assert ORDER not in found
    assert SELDOM not in found


def test_the_page_is_the_one_that_the_results_give():
    page = step_variants.PAGE.read_text("utf-8")
    found = fill(page, "step-variants", render(table.read(step_variants.RESULTS)))
    assert found == page, "run: python -m benchmarks.step_variants --report"
