"""The options that name a graph and its columns are the same everywhere, and a model replays what it was taught."""

import csv
from inspect import signature

import pytest
from typer.core import TyperArgument, TyperGroup, TyperOption
from typer.main import get_command

from helpers.papers import QUICK
from ncgnn.cli.app import app
from ncgnn.cli.graph import GraphOptions, takes_graph

OPTIONS = ["--epochs", 3, *QUICK]
COLUMNS = 'label = "topic"\nignore = ["note", "pages"]\ncategorical = ["group"]\nweight = "times"\ndirection = "way"\n'


@pytest.fixture
def run(ncgnn, tables, here) -> list[str]:
    """A model of tables whose columns a file describes; the options that name the tables."""
    header, *rows = (here / "edges.csv").read_text().splitlines()
    ways = [f'{row},"{1 + i % 4}","{("both", "->")[i % 2]}"' for i, row in enumerate(rows)]
    (here / "edges.csv").write_text("\n".join([f'{header},"times","way"', *ways]) + "\n")
    (here / "columns.toml").write_text(COLUMNS)
    done = ncgnn("train", *tables[:4], "--columns", "columns.toml", *OPTIONS, "--out", "run")
    assert done.code == 0, done.err
    return tables[:4]


def graph_options(verb: str) -> list[str]:
    command = get_command(app)
    assert isinstance(command, TyperGroup)
    params = command.commands[verb].params
    shown = [param for param in params if isinstance(param, TyperArgument | TyperOption)]
    assert len(shown) == len(params)
    return [param.name for param in shown if param.name == "name" or param.rich_help_panel == "Graph"]


@pytest.mark.parametrize("verb", ["check", "predict", "explain", "serve", "tune", "bench"])
def test_every_verb_takes_the_options_of_train(verb):
    assert graph_options(verb) == graph_options("train")
    assert len(graph_options(verb)) == 18


def test_options_have_the_defaults_of_their_fields(monkeypatch):
    def verb(graph: GraphOptions) -> None: ...

    monkeypatch.setattr(GraphOptions.__dataclass_fields__["label"], "default", "topic")
    assert signature(takes_graph(verb)).parameters["label"].default == "topic"


@pytest.mark.parametrize("own", [{"nodes": "n.csv", "edges": "e.csv"}, {"name": "g.npz"}, {"name": "g.graphml.gz"}])
def test_a_graph_in_files_is_ones_own(own):
    assert GraphOptions(**own).is_own
    assert not GraphOptions(name="karate").is_own


def test_a_model_reads_later_tables_as_its_own_without_being_told(ncgnn, run):
    plain = ncgnn("predict", "run", *run)
    assert plain.code == 0
    assert ncgnn("predict", "run", *run, "--columns", "columns.toml").out == plain.out
    told = ["--label", "topic", "--weight", "times", "--direction", "way", "--categorical", "group", "--ignore", "note"]
    assert ncgnn("predict", "run", *run, *told).out == plain.out


def test_directions_count(ncgnn, run, here):
    plain = ncgnn("predict", "run", *run).out
    text = (here / "edges.csv").read_text().replace('"both"', '"->"')
    (here / "edges.csv").write_text(text)
    assert ncgnn("predict", "run", *run).out != plain


def test_a_renamed_direction_column_can_be_named(ncgnn, run, here):
    plain = ncgnn("predict", "run", *run).out
    (here / "edges.csv").write_text((here / "edges.csv").read_text().replace('"way"', '"kind"', 1))
    assert "there is no column 'way'" in ncgnn("predict", "run", *run).err
    assert ncgnn("predict", "run", *run, "--direction", "kind").out == plain


def test_check_and_explain_take_the_file_too(ncgnn, run):
    assert "60 nodes" in ncgnn("check", *run, "--columns", "columns.toml").out
    done = ncgnn("explain", "run", *run, "--columns", "columns.toml", "--node", "003")
    predicted = {row["id"]: row["predicted"] for row in csv.DictReader(ncgnn("predict", "run", *run).out.splitlines())}
    assert done.code == 0
    assert done.out.startswith((f"Node 003: {predicted['003']}, ", "Node 003: Too close to call between "))


@pytest.mark.parametrize(
    ("option", "column", "learnt"),
    [
        ("--numeric", "group", "categorical"),
        ("--categorical", "cited", "numeric"),
        ("--ignore", "venue", "categorical"),
    ],
)
@pytest.mark.parametrize("verb", [["predict"], ["explain", "--node", "003"]])
def test_what_contradicts_the_model_is_one_line(ncgnn, run, option, column, learnt, verb):
    name, *more = verb
    done = ncgnn(name, "run", *run, option, column, *more)
    assert (done.code, done.out) == (2, "")
    learnt_as = f"ncgnn: column {column!r} under {option[2:]}: the model uses this column as {learnt}"
    assert done.err == f"{learnt_as}: remove the option, or retrain\n"


@pytest.mark.parametrize("column", ["pages", "shelf"], ids=["ignored in training", "not there"])
def test_a_kind_for_a_column_that_was_not_learnt_is_one_line(ncgnn, run, here, column):
    line = f"ncgnn: column {column!r} under numeric: the model does not use this column: remove the option, or"
    assert ncgnn("predict", "run", *run, "--numeric", column).err == f"{line} retrain\n"
    (here / "later.toml").write_text(f'numeric = ["{column}"]\n')
    assert ncgnn("predict", "run", *run, "--columns", "later.toml").err == f"{line} retrain\n"


def test_what_is_ignored_need_not_be_known(ncgnn, run):
    assert ncgnn("predict", "run", *run, "--ignore", "shelf").code == 0
