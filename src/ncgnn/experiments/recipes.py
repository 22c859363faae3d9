"""With which settings a cell is run."""

from typing import Any

from ncgnn.baselines import Settings, published_gcn, published_mlp, tuned_gcn
from ncgnn.experiments.cells import Cell
from ncgnn.files import toml
from ncgnn.models.ncgnn.config import Config, preset

Recipe = Config | Settings

_FILTERS = {"NCGNN-A": "attention", "NCGNN-D": "diffusion"}


def recipe(cell: Cell) -> Recipe | None:
    """The settings of a cell, with seed 0; None for a tuned control that nobody has searched yet."""
    if cell.model == "NCGNN default":
        return Config.make({})
    if cell.model == "GCN":
        return published_gcn(cell.graph, cell.hops or 2)
    if cell.model == "MLP":
        return published_mlp()
    return tuned_gcn(cell.graph) if cell.model == "GCN tuned" else _ncgnn(cell)


def _ncgnn(cell: Cell) -> Config:
    config = Config.make(preset(cell.graph, _FILTERS[cell.model]), where=f"preset of {cell.graph}")
    if cell.model != "NCGNN-A":
        return config
    # a list, also where a number means the same: the same settings are to have the same hash
    return Config.make(config.model_dump() | within(config, cell.hops or max(config.hop_set)))


def within(config: Config, most: int) -> dict[str, Any]:
    """The hops of a configuration, cut or continued so that the farthest is ``most``, and zeta's start for each."""
    farthest = max(config.hop_set)
    hops = sorted({hop for hop in config.hop_set if hop <= most} | set(range(farthest + 1, most + 1)) | {most})
    if config.zeta_prior is None:
        return {"hops": hops}
    prior = dict(zip(config.hop_set, config.zeta_prior, strict=True))
    return {"hops": hops, "zeta_prior": [prior.get(hop, prior[farthest]) for hop in hops]}


def with_seed(settings: Recipe, seed: int) -> Recipe:
    return settings.model_copy(update={"seed": seed})


def as_toml(settings: Recipe) -> str:
    """All settings that mean something, but the seed, and what reads them."""
    use = "ncgnn.Config.read" if isinstance(settings, Config) else "ncgnn.baselines.Settings"
    return f"# for {use}\n{toml(settings.effective())}"
