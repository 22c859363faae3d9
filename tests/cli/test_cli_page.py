import re

import pytest

from helpers.papers import QUICK


def test_a_page_of_all_nodes_is_written(ncgnn, karate_run, here):
    done = ncgnn("explain", karate_run, "karate", "--page", "report.html")
    assert (done.code, done.err) == (0, "")
    assert re.fullmatch(r"report\.html: 0\.\d MB; open it in a browser\n", done.out)
    text = (here / "report.html").read_text("utf-8")
    assert "All 34 nodes are on the map. All of them are explained." in text
    assert re.search(r'"trained":\d', text)  # the run folder tells it


def test_nodes_can_be_chosen(ncgnn, karate_run, here):
    done = ncgnn("explain", karate_run, "karate", "--page", "report.html", "--node", 5)
    assert done.code == 0
    assert "Explained: the 1 requested node." in (here / "report.html").read_text("utf-8")


def test_one_s_own_tables_have_a_page_with_their_split(ncgnn, tables, here):
    assert ncgnn("train", *tables, "--label", "topic", "--epochs", 5, *QUICK, "--out", "runs/topics").code == 0
    done = ncgnn("explain", "runs/topics", "--nodes", "nodes.csv", "--edges", "edges.csv", "--page", "report.html")
    assert (done.code, done.err) == (0, "")
    text = (here / "report.html").read_text("utf-8")
    assert re.search(r'"trained":\d', text)
    assert "venue=" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--json"], "--page always explains the predicted class in a fixed layout: remove --json"),
        (
            ["--against", "1"],
            "--page always explains the predicted class in a fixed layout: remove --against",
        ),
        (["--sample", "3"], "--page always explains the predicted class in a fixed layout: remove --sample"),
        (["--node", "340"], "there is no node '340'; closest: .*"),
    ],
)
def test_mistakes_are_said_and_leave_no_page(ncgnn, karate_run, here, options, message):
    done = ncgnn("explain", karate_run, "karate", "--page", "report.html", *options)
    assert (done.code, done.out) == (2, "")
    assert re.fullmatch(f"ncgnn: {message}\n", done.err)
    assert list(here.iterdir()) == []


@pytest.mark.parametrize(("name", "example"), [(".", "page.html"), ("/", "/page.html"), ("a.txt", "a.html")])
def test_a_page_has_the_name_of_a_page(ncgnn, karate_run, name, example):
    done = ncgnn("explain", karate_run, "karate", "--page", name)
    assert (done.code, done.err) == (2, f"ncgnn: {name}: a page is an HTML file, e.g. {example}\n")
