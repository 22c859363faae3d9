"""Every example in README.md and docs/ is run, and what it is said to print is compared with what it prints.

How a page is read:

- ``python`` blocks of a page run in order in one namespace; a ``text`` block right after one is what it prints;
- ``console`` blocks run their ``$`` lines in order; the lines after a command are what it prints;
- ``csv`` and ``toml`` blocks stand under a line like ``nodes.csv:`` and become that file, and so do ``python`` blocks
  under a line like ``sage.py:``;
- all of it happens in one empty folder a page, in which the tables of docs/own-data.md lie already;
- a line ``...`` of output stands for any lines, ``...`` at the end of a line for any text;
- where the paragraph before a block says "for example", numbers with a point may be others.
"""

import io
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from pathlib import Path

import numba
import pytest
import torch
from pydantic import BaseModel
from typer.core import TyperGroup
from typer.main import get_command

from helpers.docs_examples import ROOT, Block, assert_prints, blocks, ends_well, section, table
from ncgnn import Config
from ncgnn.cli.app import app, main
from ncgnn.models.ncgnn import Group

PAGES = ("README.md", *sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs").glob("*.md")))
LEFT_OUT = ("make", "pip", "export")  # they change the machine, or take minutes
SHELL = ("cat", "head", "ls", "tail")

pytestmark = pytest.mark.filterwarnings(
    # torch says so once a process to whoever makes such a tensor
    "ignore:Sparse CSR tensor support is in beta:UserWarning"
)


# Running the examples


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder with the tables of docs/own-data.md, on a machine without benchmark graphs."""
    monkeypatch.chdir(tmp_path)
    for name in ("NCGNN_DATA", "NCGNN_SEARCH", "NCGNN_REFIT"):  # which the suite sets to be quick
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NCGNN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "100")
    for block in blocks("docs/own-data.md"):
        if block.file:
            Path(block.file).write_text(block.text, "utf-8")
    threads = torch.get_num_threads(), numba.get_num_threads()
    torch.set_num_threads(1)  # waiting for a second thread takes longer than graphs this small
    numba.set_num_threads(1)
    yield tmp_path
    torch.set_num_threads(threads[0])
    numba.set_num_threads(threads[1])


def ncgnn(*arguments: str) -> tuple[int, str]:
    """Exit code and output of a command, through the real entry point."""
    out, code = io.StringIO(), 0
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(out):
        patch.setattr(sys, "argv", ["ncgnn", *arguments])
        patch.setattr(sys, "warnoptions", ["error"])  # as pytest has it
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
    return code, out.getvalue()


def run_command(command: str, expected: str, numbers_vary: bool, where: str) -> None:
    program, *arguments = shlex.split(command)
    if program in LEFT_OUT:
        return
    if program == "ncgnn":
        code, output = ncgnn(*arguments)
        assert (code == 0) == ends_well(expected), f"{where} ends with exit code {code}:\n{output}"
    else:
        assert program in SHELL, f"{where}: {program} is neither run nor left out"
        output = subprocess.run(command, shell=True, check=True, capture_output=True, text=True).stdout
    assert_prints(output, expected, numbers_vary, where)


def run_console(block: Block, page: str) -> None:
    assert block.text.startswith("$ "), f"{page}:{block.line}: a console block begins with a command"
    for command, expected in block.commands:
        run_command(command, expected, block.is_for_example, f"{page}:{block.line}: $ {command}")


def run_python(block: Block, page: str, names: dict[str, object]) -> str:
    out = io.StringIO()
    with redirect_stdout(out):
        # empty lines before it, so that a traceback shows the line of the page
        exec(compile("\n" * (block.line - 1) + block.text, str(ROOT / page), "exec"), names)
    return out.getvalue()


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_a_page_run_and_print_what_they_are_said_to(page: str, folder: Path) -> None:
    names: dict[str, object] = {"__name__": "page"}
    printed: str | None = None
    for block in blocks(page):
        if printed is not None:
            said = block.text if block.kind == "text" else ""
            assert_prints(printed, said, block.is_for_example, f"{page}, the python block before line {block.line}")
        elif block.kind == "text":
            pytest.fail(f"{page}:{block.line}: a text block says what a python block right before it prints")
        printed = None
        if block.file:
            Path(block.file).write_text(block.text, "utf-8")
        elif block.kind == "python":
            printed = run_python(block, page, names)
        elif block.kind == "console":
            run_console(block, page)
        else:
            assert block.kind not in ("csv", "toml"), f"{page}:{block.line}: the line before it names a file"
            # a block without a language is a drawing
            assert block.kind in ("text", ""), f"{page}:{block.line}: nothing is known of {block.kind} blocks"
    assert not printed, f"{page}: the last python block prints\n{printed}"


# What the pages list is what the code has


@pytest.mark.parametrize("page", [*PAGES, "CHANGELOG.md"])
def test_links_lead_to_files_and_headings(page: str) -> None:
    text = (ROOT / page).read_text("utf-8")
    for target in re.findall(r"(?<!!)\[[^]]+\]\(([^)]+)\)", text):
        if target.startswith("https://"):
            continue
        path, _, heading = target.partition("#")
        file = (ROOT / page).parent / path if path else ROOT / page
        assert file.is_file(), f"{page} links to {target}, which is not there"
        assert not heading or heading in headings(file), f"{page} links to {target}, a heading that is not there"


def headings(file: Path) -> list[str]:
    """The headings of a page as they stand in links."""
    titles = re.findall(r"^#+ (.*)$", file.read_text("utf-8"), re.MULTILINE)
    return [re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles]


def test_every_equation_has_its_place_in_the_code() -> None:
    rows = table(section("docs/method.md", "Where each equation is"), "paper")
    for _, path, names in rows:
        module = import_module("ncgnn." + path.strip("`").removesuffix(".py").replace("/", "."))
        for name in re.findall(r"`([\w.]+)`", names):
            owner: object = module
            for part in name.split("."):
                owner = getattr(owner, part)
    numbers = re.findall(r"\beq\. ([\d, and-]+)", " ".join(row[0] for row in rows))
    covered = {int(n) for text in numbers for n in re.findall(r"\d+", text)}
    assert covered >= set(range(3, 14))


def test_every_verb_has_a_section() -> None:
    rows = table((ROOT / "docs/command-line.md").read_text("utf-8"), "verb")
    assert {re.sub(r"\[`(\w+)`\].*", r"\1", row[0]) for row in rows} == set(verbs())


def test_the_options_of_a_verb_are_those_in_its_table() -> None:
    for verb, command in verbs().items():
        rows = table(section("docs/command-line.md", f"ncgnn {verb}"), "option")
        listed = [row[0].strip("`") for row in rows if row[0].startswith("`")]
        actual = [option for param in command.params for option in param.opts if option.startswith("--")]
        assert sorted(listed) == sorted(set(actual) - {"--help"}), verb


def verbs() -> Mapping:
    command = get_command(app)
    assert isinstance(command, TyperGroup)
    return command.commands


@pytest.mark.parametrize(("first", "settings"), [("key", Config), ("key of a group", Group)])
def test_the_table_of_settings_is_that_of_the_code(first: str, settings: type[BaseModel]) -> None:
    rows = table(section("docs/command-line.md", "Settings"), first)
    schema = settings.model_json_schema()["properties"]
    expected = [
        [f"`{key}`", values(schema[key]), shown(field.default), field.description]
        for key, field in settings.model_fields.items()
    ]
    right = "\n".join(f"| {' | '.join(map(str, row))} |" for row in expected)
    assert rows == expected, f"the table of settings should be\n{right}"


def shown(value: object) -> str:
    """A value as it stands in a TOML file."""
    if value is None:
        return "none"
    return f"`{json.dumps(value)}`"


def values(schema: dict) -> str:
    """What a setting may be, in words."""
    if "anyOf" in schema:
        return " or ".join(values(kind) for kind in schema["anyOf"] if kind.get("type") != "null")
    if "enum" in schema:
        return " or ".join(f'`"{value}"`' for value in schema["enum"])
    if "const" in schema:
        return f'`"{schema["const"]}"`'
    if schema["type"] == "boolean":
        return "`true` or `false`"
    if schema["type"] == "array":
        pair = schema.get("prefixItems")
        if "$ref" in schema.get("items", {}):  # of objects, which have a table of their own
            return "list of groups"
        return f"[{', '.join(map(values, pair))}]" if pair else f"list of {several(values(schema['items']))}"
    kind = {"integer": "whole number", "number": "number", "string": "text"}[schema["type"]]
    return " ".join([kind, " and ".join(bounds(schema))]).strip()


def several(kind: str) -> str:
    return f"pairs {kind}" if kind.startswith("[") else kind.replace("number", "numbers")


def bounds(schema: dict) -> list[str]:
    words = {"minimum": "at least", "exclusiveMinimum": "above", "maximum": "at most", "exclusiveMaximum": "below"}
    return [f"{word} {limit(schema[key])}" for key, word in words.items() if key in schema]


def limit(number: float) -> str:
    return "2^63" if number == 2**63 else f"{number:g}"


def test_the_keys_of_run_json_are_those_in_its_table(folder: Path) -> None:
    assert ncgnn("train", "karate", "--epochs", "1", "--out", "run")[0] == 0
    run = json.loads((folder / "run/run.json").read_text("utf-8"))
    rows = table(section("docs/command-line.md", "The run folder"), "key")
    assert [row[0].strip("`") for row in rows] == list(dotted(run))


def dotted(run: dict) -> Iterator[str]:
    for key, value in run.items():
        if isinstance(value, dict) and key not in ("config", "versions"):
            yield from (f"{key}.{inner}" for inner in value)
        else:
            yield key


# The messages of docs/own-data.md

TRAIN = "train --nodes papers.csv --edges cites.csv --label topic --epochs 1"
PREDICT = "predict model --nodes papers.csv --edges cites.csv"


def edit(file: str, pattern: str, replacement: bytes) -> Callable[[], object]:
    return lambda: Path(file).write_bytes(re.sub(pattern.encode(), replacement, Path(file).read_bytes()))


FAULTS: tuple[tuple[str, Callable[[], object]], ...] = (  # a command, and what is done to the tables before it
    (TRAIN, lambda: Path("papers.csv").unlink()),
    (TRAIN.replace("papers.csv", "papers.txt"), lambda: Path("papers.csv").rename("papers.txt")),
    (TRAIN, edit("papers.csv", "KDD", "Köln".encode("latin-1"))),
    (TRAIN, edit("papers.csv", "P02,networks,2017,KDD", b"P02,networks,2017,KDD,Halifax")),
    (TRAIN, edit("papers.csv", "image", b"graph")),
    (TRAIN.replace("topic", "subject"), lambda: None),
    (TRAIN, edit("papers.csv", "P02,", b"P01,")),
    (TRAIN, edit("papers.csv", "P03,", b",")),
    (TRAIN, edit("papers.csv", "P05,networks,2020", b"P05,networks,n/a")),
    (TRAIN, edit("papers.csv", r",(20\d\d),", rb',"\1,5",')),
    (TRAIN, edit("cites.csv", "P03,P01", b"P03,P99")),
    (TRAIN + " --weight times", edit("cites.csv", "P04,P02,3", b"P04,P02,0")),
    (TRAIN, edit("papers.csv", "vision", b"")),
    (TRAIN, edit("papers.csv", "(P0[456]|P1[234]),[a-z]+", rb"\1,")),
    (PREDICT, edit("papers.csv", "P01,networks", b"P01,biology")),
    (PREDICT, edit("papers.csv", "graph,", b"links,")),
)


@pytest.mark.parametrize("number", range(len(FAULTS)))
def test_the_messages_about_tables_are_those_in_the_page(number: int, folder: Path) -> None:
    messages = [row[0].strip("`") for row in table(section("docs/own-data.md", "Messages"), "message")]
    assert len(messages) == len(FAULTS)
    command, spoil = FAULTS[number]
    if command == PREDICT:
        assert ncgnn(*TRAIN.split(), "--out", "model")[0] == 0
    spoil()
    assert ncgnn(*command.split()) == (2, f"ncgnn: {messages[number]}\n")
