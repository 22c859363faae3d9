"""What the library says names its parameters; the command line adds its options to that."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.core import TyperGroup
from typer.main import get_command

import ncgnn
from ncgnn.cli.app import app
from ncgnn.cli.flags import as_options, flag, with_flags
from ncgnn.models import find_model, model_names

SOURCES = Path(ncgnn.__file__).parent
GIT = SOURCES / "provenance.py"  # gives git its options
MODULES = sorted(path for path in SOURCES.rglob("*.py") if SOURCES / "cli" not in path.parents and path != GIT)


def constants(node: ast.AST) -> Iterator[str]:
    for one in ast.walk(node):
        if isinstance(one, ast.Constant) and isinstance(one.value, str):
            yield one.value


def named_options() -> set[str]:
    """The parameters that errors and findings name."""
    names: set[str] = set()
    for module in MODULES:
        for call in ast.walk(ast.parse(module.read_text())):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "InputError":
                names.update(name for argument in call.args[1:] for name in constants(argument))
            elif isinstance(call, ast.Call) and getattr(call.func, "id", "") == "Finding":
                given = [keyword.value for keyword in call.keywords if keyword.arg == "options"]
                names.update(name for argument in given for name in constants(argument))
    return names


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(SOURCES)))
def test_the_library_names_no_option_of_the_command_line(module):
    found = [text for text in constants(ast.parse(module.read_text())) if re.search(r"(^|[\s(`])--[a-z]", text)]
    assert not found


def test_every_parameter_that_a_message_names_is_an_option():
    command = get_command(app)
    assert isinstance(command, TyperGroup)
    known = {option for verb in command.commands.values() for parameter in verb.params for option in parameter.opts}
    named = named_options()
    keys = {key for model in model_names() for key in find_model(model).settings_class.model_fields}
    assert {"label", "storage", "num_capsules"} <= named
    for name in named | {"epochs", "compare"}:
        option, _, value = flag(name).partition(" ")
        assert option in known
        assert option != "--set" or value.partition("=")[0] in keys


def test_options_are_added_to_a_message():
    assert with_flags("no id", ["id", "per_class"]) == "no id (--id, --per-class N)"
    assert with_flags("no file", []) == "no file"


def test_settings_in_a_message_are_written_as_what_to_type():
    assert as_options("use (hops = [0, 1, 2]) or hops = 3, too") == "use (--set 'hops=[0,1,2]') or --set hops=3, too"
    assert as_options("'shelf=G' predicts 'garden'") == "'shelf=G' predicts 'garden'"
