import tomllib
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

import pytest
from pydantic import Field

from ncgnn.experiments.recipes import Recipe, model_of
from ncgnn.models.ncgnn.config import Config

PROJECT = Path(__file__).parents[3]
HASHES = (PROJECT / "tests" / "experiments" / "configuration_hashes.txt").read_text("utf-8").split()


def stored(hash: str) -> Recipe:
    return read((PROJECT / "results" / "configs" / f"{hash}.toml").read_text("utf-8").splitlines())


def read(lines: list[str]) -> Recipe:
    """A model with its settings, and as comments the same of each of its teachers."""
    starts = [*(number for number, line in enumerate(lines) if line == "# teacher"), len(lines)]
    own = lines[: starts[0]]
    values = tomllib.loads("\n".join(own))
    named = own[0].removeprefix("# model: ") if own[0].startswith("# model: ") else "ncgnn"
    teachers = ([line.removeprefix("# ") for line in lines[a + 1 : b]] for a, b in pairwise(starts))
    model = values.get("model", named)
    return Recipe(model, model_of(model).settings_class.make(values), tuple(map(read, teachers)))


@pytest.mark.parametrize("hash", HASHES)
def test_stored_settings_keep_their_hash(hash):
    assert stored(hash).hash == hash


def test_every_stored_configuration_is_on_the_list():
    assert sorted(path.stem for path in (PROJECT / "results" / "configs").glob("*.toml")) == HASHES


class Grown(Config):
    """The settings of a later version under another name."""

    momentum: float = 0.0
    swaps: list[int] = Field(default_factory=list)
    rounds: int = Field(3, json_schema_extra={"introduced": 1})


@pytest.mark.parametrize("hash", [hash for hash in HASHES if isinstance(stored(hash).settings, Config)])
def test_a_new_field_at_its_default_and_another_class_name_leave_the_hash(hash):
    settings = stored(hash).settings
    assert Grown.make(settings.model_dump() | {"rounds": 1}).hash == settings.hash


@pytest.mark.parametrize("change", [{"momentum": 0.5}, {"swaps": [1]}])
def test_a_new_field_counts_once_it_leaves_its_default(change):
    assert Grown.make({"rounds": 1} | change).hash != Config.make({}).hash


def test_a_changed_default_does_not_change_what_a_field_was_introduced_with():
    assert Grown.make({}).hash != Config.make({}).hash
    assert Grown.make({"rounds": 1}).hash == Config.make({}).hash


def test_another_model_with_the_same_fields_has_another_hash():
    class Other(Config):
        identity: ClassVar[str] = "other"

    assert Other.make({}).hash != Config.make({}).hash
