"""What a newcomer reads first."""

import re
import tomllib

from helpers.docs_examples import ROOT, blocks

TEXT = (ROOT / "README.md").read_text("utf-8")
FIRST = 40  # lines of the first screen


def commands(number: int) -> list[str]:
    return [command for command, _ in blocks("README.md")[number].commands]


def test_the_first_screen_has_two_commands_and_then_the_installation():
    assert commands(0) == ["make demo", "make test"]
    assert commands(1) == ["pip install torch --index-url https://download.pytorch.org/whl/cpu", "pip install ."]
    assert blocks("README.md")[1].line < FIRST


def test_size_of_the_environment_and_time_to_the_first_result_are_stated():
    screen = "\n".join(TEXT.splitlines()[:FIRST])
    assert re.search(r"first result comes about (a|\d+) minutes? after the installation", screen)
    sizes = [float(size) for size in re.findall(r"(\d+(?:\.\d+)?) GB", screen)]
    assert len(sizes) == 3
    assert all(1 < size < 10 for size in sizes)


def test_the_index_of_cpu_builds_is_the_one_that_make_asks():
    assert "CPU_BUILD := https://download.pytorch.org/whl/cpu\n" in (ROOT / "Makefile").read_text("utf-8")


def test_the_python_version_is_that_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert f"Python {project['requires-python'].removeprefix('>=')} or newer" in TEXT
