"""The settings of each cell."""

from dataclasses import dataclass
from typing import Any, Literal

from ncgnn.experiments.cells import Cell
from ncgnn.files import toml
from ncgnn.models import Model, RunSettings, find_model
from ncgnn.models.ncgnn.config import Config


@dataclass(frozen=True)
class Line:
    """A line of the tables: a model, and which of its settings to use."""

    model: str
    settings: Literal["preset", "published", "default"]
    variant: str = ""


LINES = {
    "NCGNN-A": Line("ncgnn", "preset", "attention"),
    "NCGNN-D": Line("ncgnn", "preset", "diffusion"),
    "NCGNN default": Line("ncgnn", "default"),
    "GCN": Line("gcn", "published"),
    "GCN tuned": Line("gcn", "preset"),
    "MLP": Line("mlp", "published"),
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
    found = settings_of(line, cell.graph)
    if isinstance(found, Config) and line.variant == "attention":
        # always a list, even if a number would be equivalent, so that equal settings have equal hashes
        found = Config.make(found.model_dump() | within(found, cell.hops or max(found.hop_set)))
    elif cell.hops and line.settings == "published":
        found = find_model(line.model).published(cell.graph, cell.hops)  # type: ignore[call-arg]
    return None if found is None else Recipe(line.model, found)


def settings_of(line: Line, graph: str) -> RunSettings | None:
    model = find_model(line.model)
    found: RunSettings | None
    if line.settings == "published":
        found = model.published(graph)
    elif line.settings == "default":
        found = model.settings_class.make({})
    else:
        found = model.preset(graph, line.variant)
    return found


def within(config: Config, most: int) -> dict[str, Any]:
    """The hops of a configuration, truncated or extended to ``most``, and the initial zeta of each."""
    farthest = max(config.hop_set)
    hops = sorted({hop for hop in config.hop_set if hop <= most} | set(range(farthest + 1, most + 1)) | {most})
    if config.zeta_prior is None:
        return {"hops": hops}
    prior = dict(zip(config.hop_set, config.zeta_prior, strict=True))
    return {"hops": hops, "zeta_prior": [prior.get(hop, prior[farthest]) for hop in hops]}
