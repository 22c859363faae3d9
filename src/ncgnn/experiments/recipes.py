"""The settings of each cell."""

import hashlib
import json
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from ncgnn.experiments.cells import (
    EXTENDED,
    GCN,
    GCN_EXTENDED,
    GCN_TUNED,
    MLP,
    NCGNN_A,
    NCGNN_D,
    NCGNN_DEFAULT,
    Cell,
)
from ncgnn.files import read_toml, toml
from ncgnn.models import Model, RunSettings, find_model

ITSELF = "itself"
"""As a teacher: the same model, trained on labels alone."""


@dataclass(frozen=True)
class Line:
    """A line of the tables: a model, and which of its settings to use."""

    model: str
    settings: Literal["preset", "published", "default", "extended"]
    variant: str = ""


LINES = {
    NCGNN_A: Line("ncgnn", "preset", "attention"),
    NCGNN_D: Line("ncgnn", "preset", "diffusion"),
    EXTENDED[NCGNN_A]: Line("ncgnn", "extended", "attention"),
    EXTENDED[NCGNN_D]: Line("ncgnn", "extended", "diffusion"),
    NCGNN_DEFAULT: Line("ncgnn", "default"),
    GCN: Line("gcn", "published"),
    GCN_TUNED: Line("gcn", "preset"),
    GCN_EXTENDED: Line("gcn", "extended"),
    MLP: Line("mlp", "published"),
    "GAT": Line("gat", "published"),
}


@dataclass(frozen=True)
class Recipe:
    """A model of the registry with settings, seed 0, and the models it learns from besides the labels."""

    model: str
    settings: RunSettings
    teachers: tuple["Recipe", ...] = ()

    @property
    def definition(self) -> Model[Any]:
        return find_model(self.model)

    @property
    def hash(self) -> str:
        if not self.teachers:
            return self.settings.hash
        text = json.dumps([self.settings.hash, *([teacher.model, teacher.hash] for teacher in self.teachers)])
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def toml(self) -> str:
        """All effective settings except the seed; the model and its teachers as comments."""
        own = f"# model: {self.model}\n{toml(self.settings.effective())}"
        teachers = "".join(f"\nteacher\n{teacher.toml()}" for teacher in self.teachers)
        return own + "".join(f"# {line}\n" for line in teachers.splitlines() if line)


def recipe(cell: Cell) -> Recipe | None:
    """The model, settings and teachers of a cell; None for a tuned or extended model without tuned settings."""
    line = LINES[cell.model]
    if line.settings == "extended":
        return extended_recipe(line, cell.graph, cell.hops)
    found = settings_of(line, cell.graph, cell.hops)
    return None if found is None else Recipe(line.model, found)


def settings_of(line: Line, graph: str, hops: int | None = None) -> RunSettings | None:
    """The settings of a line for a graph, with a receptive field of this many hops where that is asked for."""
    model = find_model(line.model)
    found: RunSettings | None
    if line.settings == "published":
        published = model.published(graph, hops)
        found = model.settings_class.make(published.model_dump() | model.of_variant(line.variant))
    elif line.settings == "default":
        found = model.settings_class.make({})
    else:
        found = model.preset(graph, line.variant)
        found = None if found is None else model.within(found, hops)
    return found


def extended_path(line: Line, graph: str) -> Path:
    """The file of an extended model: its settings, which teachers it has, and their settings."""
    folder = Path(str(resources.files("ncgnn.experiments"))) / "extended"
    return folder / f"{graph.replace(':', '-')}-{find_model(line.model).label(line.variant)}.toml"


def extended_recipe(line: Line, graph: str, hops: int | None = None) -> Recipe | None:
    """What the file of an extended model says; the number of hops limits the model, not its other teachers."""
    path, model = extended_path(line, graph), find_model(line.model)
    if not path.is_file():
        return None
    found = read_toml(path)
    settings = model.within(model.settings_class.make(found["settings"], str(path)), hops)
    own = Recipe(line.model, settings)
    names = found["teachers"]
    others = (
        Recipe(name, find_model(name).settings_class.make(found[name], str(path))) for name in names if name != ITSELF
    )
    return replace(own, teachers=(*((own,) if ITSELF in names else ()), *others))
