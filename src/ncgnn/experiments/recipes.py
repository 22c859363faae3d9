"""With which settings a cell is run."""

from dataclasses import dataclass
from typing import Any, Literal

from ncgnn.experiments.cells import Cell
from ncgnn.files import toml
from ncgnn.models import Model, RunSettings, find_model
from ncgnn.models.ncgnn.config import Config


@dataclass(frozen=True)
class Line:
    """A line of the tables: a model of the registry, and which of its settings."""

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
        """All settings that mean something, but the seed, and the model they are of."""
        return f"# model: {self.model}\n{toml(self.settings.effective())}"


def recipe(cell: Cell) -> Recipe | None:
    """The model and settings of a cell; None for a tuned one that nobody has searched yet."""
    line = LINES[cell.model]
    found = settings_of(line, cell.graph)
    if isinstance(found, Config) and line.variant == "attention":
        # a list, also where a number means the same: the same settings are to have the same hash
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
    """The hops of a configuration, cut or continued so that the farthest is ``most``, and zeta's start for each."""
    farthest = max(config.hop_set)
    hops = sorted({hop for hop in config.hop_set if hop <= most} | set(range(farthest + 1, most + 1)) | {most})
    if config.zeta_prior is None:
        return {"hops": hops}
    prior = dict(zip(config.hop_set, config.zeta_prior, strict=True))
    return {"hops": hops, "zeta_prior": [prior.get(hop, prior[farthest]) for hop in hops]}
