"""How the package is laid out: on which others it leans, and that its modules can be reached."""

import re
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType

import pytest

import ncgnn.data

MODULES = [found.name for found in walk_packages(ncgnn.data.__path__, "ncgnn.data.")]


@pytest.mark.parametrize("name", MODULES)
def test_no_function_hides_a_module(name):
    module = import_module(name)
    package, _, last = name.rpartition(".")
    assert getattr(import_module(package), last) is module
    assert isinstance(module, ModuleType)


@pytest.mark.parametrize("name", MODULES)
def test_data_leans_on_nothing_above_it(name):
    source = Path(str(import_module(name).__file__)).read_text("utf-8")
    parts = set(re.findall(r"^\s*(?:from|import) ncgnn\.(\w+)", source, re.M))
    assert parts <= {"data", "errors", "files", "memory", "text"}
