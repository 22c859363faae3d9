"""The settings of each cell."""

from dataclasses import dataclass
from typing import Any, Literal

from ncgnn.experiments.cells import GCN, GCN_TUNED, MLP, NCGNN_A, NCGNN_D, NCGNN_DEFAULT, Cell
from ncgnn.files import toml
from ncgnn.models import Model, RunSettings, find_model


@dataclass(frozen=True)
class Line:
    """A line of the tables: a model, and which of its settings to use."""

    model: str
    settings: Literal["preset", "published", "default"]
    variant: str = ""


LINES = {
    NCGNN_A: Line("ncgnn", "preset", "attention"),
    NCGNN_D: Line("ncgnn", "preset", "diffusion"),
    NCGNN_DEFAULT: Line("ncgnn", "default"),
    GCN: Line("gcn", "published"),
    GCN_TUNED: Line("gcn", "preset"),
    MLP: Line("mlp", "published"),
    "GAT": Line("gat", "published"),
}


@dataclass(frozen=True)
class Recipe:
    """A model of the registry with settings, seed 0."""

    model: str
    settings: RunSettings

    @property
    def definition(self) -> Model[Any]:
        return find_model(self.model)

    @property
    def hash(self) -> str:
        return self.settings.hash

    def toml(self) -> str:
        """All effective settings except the seed, and the model."""
        return f"# model: {self.model}\n{toml(self.settings.effective())}"


def recipe(cell: Cell) -> Recipe | None:
    """The model and settings of a cell; None for a tuned model without tuned settings."""
    line = LINES[cell.model]
    found = settings_of(line, cell.graph, cell.hops)
    return None if found is None else Recipe(line.model, found)


def settings_of(line: Line, graph: str, hops: int | None = None) -> RunSettings | None:
    """The settings of a line for a graph, with a receptive field of this many hops where that is asked for."""
    model = find_model(line.model)
    found: RunSettings | None
    if line.settings == "published":
        found = model.published(graph, hops)
    elif line.settings == "default":
        found = model.settings_class.make({})
    else:
        found = model.preset(graph, line.variant)
        found = None if found is None else model.within(found, hops)
    return found
