import json
import re
from dataclasses import replace

import pytest

from ncgnn.explain import Candidate, Neighbour, NodeExplanation, Part
from ncgnn.explain.parts import FeatureParts
from ncgnn.explain.text import bars


@pytest.fixture
def wild() -> NodeExplanation:
    """Names that would break a page or a terminal."""
    return NodeExplanation(
        node='<i>"n"</i>',
        prediction=Candidate("<b>A&B</b>", 2.0, 0.75),
        runner_up=Candidate("'c'", 0.5, 0.25),
        explained="<b>A&B</b>",
        against=None,
        score=2.0,
        bias=0.25,
        hops=(Part("0", 1.0), Part("1", 0.75)),
        neighbours=(Neighbour("<script>", 1.5, "<b>A&B</b>", "train", (Part("word", 0.5),)), Neighbour("b", -0.5)),
        rest=0.75,
        capsules=(Part("0", 1.75),),
        features=FeatureParts((Part("\x1b[31mred", 1.0),), 0.5, 0.25),
    )


def test_names_are_escaped_in_html(wild):
    html = wild._repr_html_()
    assert set(re.findall(r"<(\w+)", html)) == {"div", "p", "table", "caption", "tr", "td", "svg", "rect"}
    for name in ("&lt;script&gt;", "&lt;b&gt;A&amp;B&lt;/b&gt;", "&lt;i&gt;&quot;n&quot;&lt;/i&gt;", "&#x27;c&#x27;"):
        assert name in html
    assert "http" not in html


def test_a_terminal_gets_no_control_characters(wild):
    assert bars(wild).replace("\n", "").isprintable()


def test_each_way_of_splitting_has_parts_that_add_up(wild):
    sums = {kind: sum(part.value for part in parts) for kind, parts in wild.sections()}
    assert sums == {"hop": 2.0, "neighbour": 2.0, "capsule": 2.0, "feature": 2.0}


def test_the_sentence_names_the_largest_parts(wild):
    assert str(wild) == (
        "Node <i>\"n\"</i> is classified as <b>A&B</b> (probability 0.75, score 2.000); runner-up: 'c' "
        "(probability 0.25, score 0.500). Largest contributions: hop 0 (+1.000), "
        "node <script> (train, class <b>A&B</b>) (+1.500), capsule 0 (+1.750), "
        "feature '\\x1b[31mred' (+1.000). Bias, independent of all nodes: +0.250."
    )


def test_titles_stand_beside_ids(wild):
    named = replace(wild, title="<u>N</u>", neighbours=(replace(wild.neighbours[0], title="T\x1b"),))
    assert 'Node <i>"n"</i> “<u>N</u>” is classified as' in str(named)
    assert "node '<script> “T\\x1b” (train, class <b>A&B</b>)' (+1.500)" in str(named)
    assert "“&lt;u&gt;N&lt;/u&gt;”" in named._repr_html_()
    assert named.to_dict()["neighbours"][0]["title"] == "T\x1b"
    assert [row[1:3] for row in named.rows() if row[0] == "neighbour"] == [("<script>", "T\x1b")]


def test_of_a_long_title_the_beginning_is_said_and_what_is_known_of_the_node_stays(wild):
    long = replace(wild.neighbours[0], title="word " * 30)
    assert long.name.startswith("<script> “word word")
    assert long.name.endswith("…” (train, class <b>A&B</b>)")
    assert long.name in bars(replace(wild, neighbours=(long,)))


def test_the_sentence_says_where_the_label_is_another(wild):
    assert "Its label" not in str(wild)
    assert "Its label" not in str(replace(wild, label=wild.prediction.name))
    assert "score 0.500). Its label is 'c'. Largest" in str(replace(wild, label="'c'"))


def test_the_sentence_says_which_class_is_ahead(wild):
    assert "<b>A&B</b> is 2.000 ahead of 'c'; largest contributions: " in str(replace(wild, against="'c'"))
    assert "<b>A&B</b> is 1.000 behind 'c'; " in str(replace(wild, against="'c'", score=-1.0))
    assert "Largest contributions to 'c' (score 2.000): " in str(replace(wild, explained="'c'"))


def test_the_dictionary_holds_everything_as_plain_values(wild):
    read = json.loads(json.dumps(wild.to_dict()))
    assert read["prediction"] == {"name": "<b>A&B</b>", "value": 2.0, "probability": 0.75}
    assert read["neighbours"][0]["features"] == [{"name": "word", "value": 0.5}]
    assert read["features"]["rest"] == 0.5
