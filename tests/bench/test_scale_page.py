from pathlib import Path

import pytest
from benchmarks import scale_page
from benchmarks.plan import GRAPHS, Constants, constants, plan

PAGE = scale_page.PAGE.read_text("utf-8")


def test_the_page_is_the_one_that_the_results_give():
    assert scale_page.render(PAGE, scale_page.RESULTS) == PAGE, "run: python -m benchmarks.scale_page"


def test_what_is_not_measured_is_not_made_up(tmp_path: Path):
    assert scale_page.render(PAGE, tmp_path).count("Not measured yet.") == len(scale_page.BLOCKS)


def test_constants_are_of_the_largest_graphs():
    batches = [{"nodes": n, "batch_nodes": n // 10, "measured_epoch_cpu_s": n / 100} for n in (200, 100)]
    streams = [
        {"command": command, "nodes": n, "cpu_s": 4 + n * cost}
        for n in (10, 100, 1000)
        for command, cost in {"predict": 0.5, "explain": 2}.items()
    ]
    found = constants(batches, streams)
    assert found is not None
    assert found.step == 2 / (2 * 20)
    assert (round(found.predict, 6), round(found.explain, 6)) == (0.5, 2)
    assert constants(batches, streams[:2]) is None


def test_time_on_paper_is_proportional_to_nodes_and_classes():
    products = GRAPHS[0]
    more = products._replace(nodes=10 * products.nodes, classes=2 * products.classes)
    some, many = (dict(plan(graph, Constants(1.0, 3600.0, 1.0))) for graph in (products, more))
    key = "core hours: prediction of all nodes"
    assert float(many[key]) == pytest.approx(20 * float(some[key]), rel=1e-6)
