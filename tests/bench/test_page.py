"""docs/performance.md says what the files in results/benchmarks say."""

from pathlib import Path

import pytest
import torch
from benchmarks import aims, first_start, graphs, page, profile, roofline, scaling, table
from benchmarks.__main__ import LARGE_PARTS, PARTS, main

from ncgnn.models.ncgnn.config import Config

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/performance.md").read_text("utf-8")
TIMES = {"wall_median_ms": 1.0, "wall_min_ms": 1.0, "cpu_median_ms": 2.0, "cpu_min_ms": 2.0, "repeats": 1}


def test_the_page_is_the_one_that_the_results_give():
    assert page.render(PAGE, ROOT / "results/benchmarks") == PAGE, "run: python -m benchmarks --parts"


def test_the_pictures_that_the_page_shows_are_there():
    for line in PAGE.splitlines():
        if line.startswith("!["):
            assert (ROOT / "docs" / line.partition("(")[2].rstrip(")")).is_file(), line


def test_every_file_of_results_names_its_machine(stamp):
    for file in (ROOT / "results/benchmarks").glob("*.csv"):
        assert file.stem in PARTS | LARGE_PARTS
        assert all(set(stamp) <= set(row) for row in table.read(file))


def steps(times: dict[str, float], graph: str = "pubmed") -> list[table.Row]:
    return [
        {"graph": graph, "model": model, "task": task} | TIMES | {"wall_median_ms": time}
        for model, time in times.items()
        for task in ("step", "predict")
    ]


def test_times_become_a_table_with_ratios(tmp_path, stamp):
    table.write(tmp_path / "steps.csv", steps({"NCGNN": 10.0, "NCGNN, plain": 25.0, "GAT": 20.0}), stamp)
    text = page.render(PAGE, tmp_path)
    assert "| pubmed | 10 | 25 | 20 | 0.50 | 2.50 |" in text
    assert (
        "Measured on 2000-01-01: abacus, 2 cores, 1 thread, load 0.1 before; "
        "Python 3, torch 2, PyG 2, numba 0; commit abc." in text
    )
    assert page.render(text, tmp_path) == text
    assert page.render(text, tmp_path / "none") == page.render(PAGE, tmp_path / "none")


def test_memory_and_filters_become_tables(tmp_path, stamp):
    peaks = [{"graph": "cora", "model": model, "peak_mb": mb} for model, mb in (("NCGNN", 30.0), ("GAT", 60.0))]
    table.write(tmp_path / "memory.csv", peaks, stamp)
    way = {"graph": "cora", "nodes": 9, "edges": 8, "filter": "push", "by": "NCGNN", "entries": 7}
    way |= {"bound": 0.1, "error": 0.05, "peak_mb": 2.5} | TIMES
    table.write(tmp_path / "filters.csv", [way], stamp)
    table.write(tmp_path / "pagerank-large.csv", [way], stamp)
    text = page.render(PAGE, tmp_path)
    assert "| cora | 30 | 60 | 0.50 | - |" in text
    assert "| cora | push | NCGNN | 1 | 7 | 0.1 | 0.05 |" in text
    assert "| 9 | 8 | NCGNN | 0.001 | 7 | 0.1 | 0.05 | 2.5 |" in text


def test_aims_are_judged(tmp_path, stamp):
    table.write(tmp_path / "steps.csv", steps({"NCGNN": 10.0, "NCGNN, plain": 20.0, "GAT": 10.0}), stamp)
    assert aims.aims(tmp_path) == [
        ["training step, 1 thread, on pubmed: at most 1.5 times GAT's", "1.00", "yes"],
        ["training step, 1 thread, on pubmed: at least 2.5 times faster than plain operations", "2.00", "no"],
        ["prediction, 1 thread, on pubmed: at most 1.5 times GAT's", "1.00", "yes"],
    ]


def test_aims_of_large_graphs_are_judged(tmp_path, stamp):
    ways = [
        {"nodes": 9, "by": by} | TIMES | {"wall_median_ms": ms} for by, ms in (("NCGNN", 1.0), ("PyG get_ppr", 4.0))
    ]
    table.write(tmp_path / "pagerank-large.csv", ways, stamp)
    growing = [{"series": "nodes", "value": n} | TIMES | {"wall_median_ms": n**1.5} for n in (10, 100)]
    table.write(tmp_path / "scaling-large.csv", growing, stamp)
    assert aims.aims(tmp_path) == [
        ["top-k PageRank of 9 nodes: at least 3.0 times faster than get_ppr", "4.00", "yes"],
        ["exponent in nodes: at most 1.1", "1.50", "no"],
    ]


def test_a_page_without_a_place_is_refused(tmp_path):
    with pytest.raises(ValueError, match="no place for 'aims'"):
        page.render("# Speed", tmp_path)


def test_numbers_are_read_as_they_were_written(tmp_path, stamp):
    rows = [{"name": "a, b", "whole": 3, "part": 0.5, "none": ""}]
    table.write(tmp_path / "x.csv", rows, stamp)
    assert [{key: row[key] for key in rows[0]} for row in table.read(tmp_path / "x.csv")] == rows


def test_parts_run_write_and_fill_the_page(tmp_path, monkeypatch, karate):
    """The real thing on the karate club, with a short series and a peak made up."""
    monkeypatch.setattr(graphs, "at_hand", lambda names: iter([karate]))
    monkeypatch.setattr("benchmarks.__main__.measured_models", lambda: ["ncgnn", "gat"])
    monkeypatch.setattr(roofline, "measure_peak", lambda tell: roofline.Peak(10, 100))
    monkeypatch.setattr(scaling, "VARIED", {"iterations": (1, 2)})
    monkeypatch.setattr(scaling, "START", scaling.START | {"nodes": 50})
    where = tmp_path / "performance.md"
    where.write_text(PAGE, "utf-8")
    parts = ["steps", "scaling", "roofline"]
    main(["--repeats", "1", "--results", str(tmp_path / "out"), "--page", str(where), "--parts", *parts])
    assert sorted(file.stem for file in (tmp_path / "out").iterdir()) == sorted(parts)
    text = where.read_text("utf-8")
    assert "| karate |" in text
    assert "| lower bound, ms | karate |" in text
    assert "(performance/iterations.png)" in text
    assert (tmp_path / "performance/iterations.png").is_file()


def test_a_profile_counts_no_time_twice(karate):
    rows = profile.measure(karate, Config(hops=2), 1, lambda text: None)
    for task in ("step", "predict"):
        ms = {row["stage"]: row["ms"] for row in rows if row["task"] == task}
        assert {"mean", "agree and select", "squash", profile.REST, profile.WHOLE} <= set(ms)
        assert min(ms.values()) >= 0
    assert torch.mm.__module__ != profile.__name__


def test_a_profile_becomes_a_table(tmp_path, stamp):
    rows = [
        {"graph": "cora", "task": "predict", "stage": name, "ms": ms} for name, ms in (("squash", 1.0), ("whole", 3))
    ]
    table.write(tmp_path / "profile.csv", rows, stamp)
    assert "| ms | cora |\n|---|---:|\n| whole | 3 |\n| squash | 1 |" in page.render(PAGE, tmp_path)


@pytest.mark.long
def test_a_second_start_compiles_nothing(tmp_path, stamp, monkeypatch):
    monkeypatch.setattr(first_start, "FILTERS", {"attention": {"hops": 3}})
    first, second = first_start.measure(lambda text: None)
    assert first["compiled"] > 5
    assert (second["compiled"], second["seconds"]) == (0, 0)
    table.write(tmp_path / "first-start.csv", [first, second], stamp)
    assert f"| attention | first | {first['compiled']} | {first['seconds']} |" in page.render(PAGE, tmp_path)
    aim, _, reached = next(aims.compiling([second]))
    assert (aim, reached) == ("compiling at the second start with attention: at most 0 s", "yes")


def test_all_that_rows_were_made_by_is_named(stamp):
    later = {"date": "2000-01-03", "load": 2.5, "commit": "def"}
    assert page.made_on([stamp, stamp | later, stamp | {"load": 0.7}]) == (
        "Measured on 2000-01-01, 2000-01-03: abacus, 2 cores, 1 thread, load 0.1 to 2.5 before; "
        "Python 3, torch 2, PyG 2, numba 0; commit abc, def."
    )


def test_a_commit_is_no_number(tmp_path, stamp):
    table.write(tmp_path / "x.csv", [{"name": "a"}], stamp | {"commit": "12e456789012"})
    assert table.read(tmp_path / "x.csv")[0]["commit"] == "12e456789012"
