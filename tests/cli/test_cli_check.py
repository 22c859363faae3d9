import json
import random
import re
import shlex

from helpers.papers import node_rows, write_csv


def test_findings_are_told_with_reason_and_advice(ncgnn):
    done = ncgnn("check", "karate")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0] == "karate: 34 nodes, 78 edges, 34 features, 4 classes, 34 labelled nodes"
    assert lines[1].startswith(
        "homophily (78 edges between labelled nodes): edge 0.76, node 0.80, adjusted 0.63, two-hop 0.34. "
    )
    assert lines[2].startswith("training: about ")
    assert "warning: 7 validation nodes" in lines
    assert sum(line.startswith("  why: ") for line in lines) == sum(line.startswith("  what to do: ") for line in lines)
    assert lines[-1] == "0 serious problems, 2 warnings, 0 notes"


def test_json_is_the_report(ncgnn):
    done = ncgnn("check", "karate", "--json")
    report = json.loads(done.out)
    assert (done.code, report["serious"], report["nodes"]) == (0, False, 34)
    assert [finding["name"] for finding in report["findings"]] == ["few labels", "few validation nodes"]
    assert set(report["findings"][0]) == {"name", "level", "what", "count", "first", "why", "advice", "options"}


def test_something_serious_ends_with_exit_code_1(ncgnn, tables, here):
    rows = node_rows(range(60))
    for row in rows:
        row["decided"] = {"graphs": "yes", "logic, old": "no"}.get(row["topic"], "")
    write_csv(here / "nodes.csv", rows)
    given = [*tables[:4], "--label", "topic", "--ignore", "note", "--ignore", "venue", "--ignore", "group"]
    assert ncgnn("check", *given, "--ignore", "decided").code == 0
    done = ncgnn("check", *given, "--json")
    assert done.code == 1
    (leak,) = [finding for finding in json.loads(done.out)["findings"] if finding["level"] == "serious"]
    assert leak["name"] == "leak"
    assert {name.split("=")[0] for name in leak["first"]} == {"decided"}


def test_labels_that_cannot_be_split_are_a_finding(ncgnn, tables, here):
    write_csv(here / "nodes.csv", [row | {"topic": "graphs"} for row in node_rows(range(60))])
    done = ncgnn("check", *tables, "--label", "topic")
    assert done.code == 1
    assert "serious: 1 class with labels: at least two are needed" in done.out
    assert "edge 1.00, node 1.00. All connected labelled nodes have the same class" in done.out


def test_a_label_column_that_is_not_named_is_a_mistake(ncgnn, tables):
    done = ncgnn("check", *tables)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("ncgnn: --label is required: the column")


def test_what_columns_were_taken_for_is_shown(ncgnn, tables):
    assert "  venue  categorical  3 values" in ncgnn("check", *tables, "--label", "topic").out


def test_a_mistake_in_the_options_is_none_of_the_graphs(ncgnn):
    done = ncgnn("check", "karate", "--val", 5)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("ncgnn: --val requires --per-class")


def test_the_split_can_be_chosen(ncgnn):
    done = ncgnn("check", "karate", "--fractions", 0.3, 0.6, "--json")
    names = {finding["name"] for finding in json.loads(done.out)["findings"]}
    assert "few validation nodes" not in names


def test_checking_writes_nothing(ncgnn, here):
    ncgnn("check", "karate")
    assert list(here.iterdir()) == []


def test_advice_on_settings_can_be_pasted(ncgnn, here):
    rng = random.Random(0)
    (here / "n.csv").write_text("id,f,y\n" + "".join(f"{i},{rng.random()},{i % 2}\n" for i in range(80)))
    ends = [(i, rng.randrange(80)) for i in range(80) for _ in range(3)]
    (here / "e.csv").write_text("source,target\n" + "".join(f"{i},{j}\n" for i, j in ends))
    tables = ["--nodes", "n.csv", "--edges", "e.csv", "--label", "y"]
    out = ncgnn("check", *tables).out
    pasted = shlex.split(next(re.finditer(r"--set '[^']+'", out))[0])
    assert pasted == ["--set", "hops=[0,1,2]"]
    assert " = [" not in out
    assert ncgnn("check", *tables, *pasted).code == 0
