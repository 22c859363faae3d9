import json
import re
from dataclasses import replace

import pytest

from ncgnn.explain import Candidate, Neighbour, NodeExplanation, Part
from ncgnn.explain.answer import Answer
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
        own=0.25,
        neighbours=(Neighbour("<script>", 1.25, "<b>A&B</b>", "train", (Part("word", 0.5),)), Neighbour("b", -0.5)),
        rest=0.75,
        capsules=(Part("0", 1.75),),
        features=FeatureParts((Part("\x1b[31mred", 1.0),), 0.5, 0.25),
        own_features=(Part("word", 0.125),),
    )


def test_names_are_escaped_in_html(wild):
    html = wild._repr_html_()
    tags = "div p b details summary table caption tr td svg rect"
    assert set(re.findall(r"<(\w+)", html)) == set(tags.split())
    for name in ("&lt;script&gt;", "&lt;b&gt;A&amp;B&lt;/b&gt;", "&lt;i&gt;&quot;n&quot;&lt;/i&gt;", "&#x27;c&#x27;"):
        assert name in html
    assert "http" not in html


def test_a_terminal_gets_no_control_characters(wild):
    assert bars(wild).replace("\n", "").isprintable()


def test_each_way_of_splitting_has_parts_that_add_up(wild):
    sums = {kind: sum(part.value for part in parts) for kind, parts in wild.sections()}
    assert sums == {"hop": 2.0, "node": 2.0, "capsule": 2.0, "feature": 2.0}


def test_the_node_itself_is_no_neighbour(wild):
    assert "by node\n  the node itself " in bars(wild)
    assert "neighbour" not in bars(wild)
    assert "Features of these nodes\n  the node itself: word +0.1250\n" in bars(wild)
    assert "<td>the node itself</td>" in wild._repr_html_()
    rows = list(wild.rows())
    assert ("itself", wild.node, "", 0.25) in rows
    assert wild.node not in [name for kind, name, *_ in rows if kind == "neighbour"]


def test_without_an_answer_the_classes_are_said(wild):
    assert str(wild) == "Node <i>\"n\"</i>: <b>A&B</b>, ahead of 'c'."


def test_the_answer_comes_first(wild):
    answer = Answer("A, because of “x”.", "A rather than c (75 % against 25 %).", 1.5, 1.0, 0.5, 0.0, 1.5)
    said = replace(wild, answer=answer)
    assert str(said) == f'Node <i>"n"</i>: {answer.sentence} {answer.rather}'
    assert bars(said).startswith(f'Node <i>"n"</i>: {answer.sentence}\n{answer.rather}\n\nDetails\n')
    assert said._repr_html_().index("because of") < said._repr_html_().index("<details>")
    assert next(said.rows()) == ("answer", answer.sentence, "", 1.5)
    assert said.to_dict()["answer"]["sentence"] == answer.sentence


def test_titles_stand_beside_ids(wild):
    named = replace(wild, title="<u>N</u>", neighbours=(replace(wild.neighbours[0], title="T\x1b"),))
    assert 'Node <i>"n"</i> “<u>N</u>”: ' in str(named)
    assert "'<script> “T\\x1b” (train, class <b>A&B</b>)'" in bars(named)
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
    assert str(replace(wild, label="'c'")).endswith("Its label is 'c'.")


def test_headings_say_what_is_explained(wild):
    assert "<b>A&B</b> vs. 'c', by hop" in bars(replace(wild, against="'c'"))


def test_the_dictionary_holds_everything_as_plain_values(wild):
    read = json.loads(json.dumps(wild.to_dict()))
    assert read["prediction"] == {"name": "<b>A&B</b>", "value": 2.0, "probability": 0.75}
    assert read["neighbours"][0]["features"] == [{"name": "word", "value": 0.5}]
    assert read["features"]["rest"] == 0.5
