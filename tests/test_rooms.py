"""What the code promises about its own shape, read from its syntax trees."""

import ast
import importlib
import pkgutil
import re
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from types import ModuleType

import ncgnn
from ncgnn.data.named.registry import ANY, DATASETS, GROUPS
from ncgnn.experiments.recipes import LINES
from ncgnn.models import all_models, model_names

SOURCE = Path(ncgnn.__file__).parent
TESTS = Path(__file__).parent

# fmt: off
ROOMS = [
    "text", "errors", "memory", "extras", "temporary", "files", "parts", "together", "provenance", "drawing",
    "sparse", "nn", "data", "calibration", "train", "batches", "models", "search", "scored", "explain", "classifier",
    "check", "compare", "report", "page", "serve", "bench", "tune", "experiments", "cli", "__main__",
]
# fmt: on
"""A module imports from its own room and from those named before it."""

FUNCTIONS = {"planted"}  # a graph, and the function that makes it, by which the package exports it
PACKAGE = {"ncgnn", "NCGNN"}  # a model, and the package, the command and the network that are called after it
DO_NOT_MEET = {"compare", "bench", "tune"}


@cache
def trees() -> dict[str, ast.Module]:
    """Every module of the package, by its dotted name without ``ncgnn.``."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = ast.parse(path.read_text("utf-8"))
    return found


def imports(name: str, for_types: bool = True) -> Iterator[tuple[str, str]]:
    """The modules of the package that a module imports, at its top or later, and the names it takes of them."""
    for node in walk(trees()[name], for_types):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ncgnn"):
            for alias in node.names:
                whole = f"{node.module}.{alias.name}".removeprefix("ncgnn.")
                is_module = whole in trees()
                yield (whole, "") if is_module else ((node.module or "").removeprefix("ncgnn").lstrip("."), alias.name)
        elif isinstance(node, ast.Import):
            yield from ((alias.name.removeprefix("ncgnn."), "") for alias in node.names if "ncgnn." in alias.name)


def walk(node: ast.AST, for_types: bool) -> Iterator[ast.AST]:
    """All nodes below, or all but those that only a type checker sees."""
    yield node
    for child in ast.iter_child_nodes(node):
        if for_types or not (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"):
            yield from walk(child, for_types)


def strings(name: str) -> set[str]:
    """The string literals of a module, but for its docstrings."""
    tree = trees()[name]
    owners = [n for n in ast.walk(tree) if isinstance(n, ast.Module | ast.ClassDef | ast.FunctionDef)]
    plain = {id(statement.value) for n in owners for statement in n.body if isinstance(statement, ast.Expr)}
    constants = (n for n in ast.walk(tree) if isinstance(n, ast.Constant) and id(n) not in plain)
    return {n.value for n in constants if isinstance(n.value, str)}


def room(name: str) -> str:
    return name.partition(".")[0]


def modules_outside(*places: str) -> list[str]:
    return [name for name in trees() if not any(name == place or name.startswith(f"{place}.") for place in places)]


def test_imports_go_one_way():
    wrong = [
        f"{name} imports {other}"
        for name in trees()
        if name
        for other, _ in imports(name)
        if other and ROOMS.index(room(other)) > ROOMS.index(room(name))
    ]
    assert wrong == []


def test_rooms_that_do_not_meet():
    met = {(room(name), room(other)) for name in trees() for other, _ in imports(name)}
    assert [pair for pair in met if set(pair) <= DO_NOT_MEET and len(set(pair)) == 2] == []


def test_no_module_imports_itself_in_a_circle():
    needed = {name: {other for other, _ in imports(name, for_types=False)} - {name} for name in trees() if name}
    TopologicalSorter(needed).prepare()


def test_private_names_stay_in_their_folder():
    taken = [
        f"{name} takes {private} of {other}"
        for name in trees()
        for other, private in imports(name)
        if re.match("_[^_]", private) and other.rpartition(".")[0] != name.rpartition(".")[0]
    ]
    assert taken == []


def test_no_module_is_hidden_by_a_name_of_its_package():
    for found in pkgutil.walk_packages(ncgnn.__path__, "ncgnn."):
        importlib.import_module(found.name)
    hidden = []
    for name in [f"ncgnn.{name}" for name in trees() if name]:
        package, _, leaf = name.rpartition(".")
        if not isinstance(getattr(sys.modules[package], leaf), ModuleType):
            hidden.append(name)
    assert hidden == []


def functions_calling(method: str) -> set[str]:
    """The functions that call ``method``, written as its last names, as module:function."""
    return {
        f"{name}:{node.name}"
        for name, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and any(calls(inner, method) for inner in ast.walk(node))
    }


def calls(node: ast.AST, method: str) -> bool:
    return isinstance(node, ast.Call) and f".{ast.unparse(node.func)}".endswith(f".{method}")


def test_one_function_trains():
    assert functions_calling("backward") == {"train.loop:step"}
    assert functions_calling("optimizer.step") == {"train.loop:step"}


def test_facts_about_named_graphs_stand_in_one_place():
    graphs = {*DATASETS, *GROUPS} - {ANY}
    others = modules_outside("data.named", "data.generated", "experiments.figures")
    said = {name: strings(name) & graphs - FUNCTIONS for name in others}
    assert {name: found for name, found in said.items() if found} == {}


def test_models_are_named_in_their_folder_and_in_the_tables():
    names = {*model_names(), *(model.title for model in all_models()), *LINES} - PACKAGE
    tables = "experiments.cells", "experiments.recipes", "experiments.figures"
    said = {name: strings(name) & names for name in modules_outside("models", *tables)}
    assert {name: found for name, found in said.items() if found} == {}


def test_each_model_has_a_file_of_tests():
    tested = {path.stem.removeprefix("test_") for path in (TESTS / "models").rglob("test_*.py")}
    folders = {path.name.removeprefix("of_") for path in (TESTS / "models").iterdir() if path.is_dir()}
    assert {name.replace("-", "_") for name in model_names()} <= tested | folders
