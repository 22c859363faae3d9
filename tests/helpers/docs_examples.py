"""How README.md and the pages of docs/ are read: their code blocks, sections and tables, and what examples print."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Block:
    kind: str
    text: str
    line: int  # of its first line in the page
    before: str  # the paragraph before it

    @property
    def file(self) -> str | None:
        found = re.fullmatch(r"(\S+\.(?:csv|toml|py)):", self.before)
        return found[1] if found else None

    @property
    def is_for_example(self) -> bool:
        return "for example" in self.before.lower()

    @property
    def commands(self) -> list[tuple[str, str]]:
        """The commands of a console block, each with what it is said to print."""
        parts = re.split(r"^\$ ", self.text, flags=re.MULTILINE)[1:]
        return [(command, said) for command, _, said in (part.partition("\n") for part in parts)]


def blocks(page: str) -> list[Block]:
    text = (ROOT / page).read_text("utf-8")
    found = []
    for match in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        paragraphs = text[: match.start()].rstrip("\n").split("\n\n")
        line = text.count("\n", 0, match.start()) + 2
        found.append(Block(match[1], match[2], line, paragraphs[-1]))
    return found


def section(page: str, title: str) -> str:
    """The text under a heading, up to the next heading of any level."""
    text = (ROOT / page).read_text("utf-8")
    found = re.search(rf"^#+ {re.escape(title)}\n(.*?)(?=^#+ |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, f"{page} has no heading {title!r}"
    return found[1]


def table(text: str, first: str) -> list[list[str]]:
    """Rows of the table whose first column has the heading ``first``; pipes inside a cell are written ``\\|``."""
    found = re.search(rf"^\| {re.escape(first)} \|.*\n\|[-|]+\|\n((?:\|.*\n?)+)", text, re.MULTILINE)
    assert found, f"there is no table of {first!r}"
    rows = [re.split(r"(?<!\\)\|", row)[1:-1] for row in found[1].splitlines()]
    return [[cell.strip() for cell in row] for row in rows]


def ends_well(said: str) -> bool:
    """Whether a command that is said to print this has exit code 0."""
    return not said.startswith("ncgnn: ") and "\nserious: " not in said


def assert_prints(actual: str, expected: str, numbers_vary: bool, where: str) -> None:
    pattern = "".join(line_pattern(line, numbers_vary) for line in expected.rstrip().splitlines())
    lines = [line.rstrip() for line in actual.rstrip().splitlines() if not line.startswith("... ")]  # how far it is
    if not re.fullmatch(pattern, "".join(f"{line}\n" for line in lines)):
        pytest.fail(f"{where} is said to print\n{expected}\nand prints\n{actual}", pytrace=False)


def line_pattern(line: str, numbers_vary: bool) -> str:
    if line == "...":
        return r"(?:.*\n)*?"
    pattern = re.escape(line.removesuffix("..."))
    if numbers_vary:
        pattern = re.sub(r"\d+\\\.\d+", r"\\d+\\.\\d+", pattern)
    return pattern + (r".*\n" if line.endswith("...") else r"\n")
