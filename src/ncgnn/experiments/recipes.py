"""The settings of each cell."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from ncgnn.data.named.registry import find_info
from ncgnn.experiments.ablation import OVER_CLASSES, WITH_CROSS_ENTROPY
from ncgnn.experiments.cells import (
    ABLATED,
    BOOSTED,
    EXTENDED,
    GCN,
    GCN_EXTENDED,
    GCN_TUNED,
    MLP,
    NCGNN_A,
    NCGNN_D,
    NCGNN_DEFAULT,
    TUNED,
    Cell,
)
from ncgnn.files import read_toml, toml
from ncgnn.models import Model, RunSettings, find_model
from ncgnn.models.base.presets import preset_path, published_figures

ITSELF = "itself"
"""As a teacher: the same model, trained on labels alone."""


MOST_EPOCHS, MOST_PATIENCE = 500, 100
"""What a rival has at most, as NCGNN has."""


@dataclass(frozen=True)
class Line:
    """A line of the tables: a model, which of its settings to use, and which changes to make.

    ``rival`` settings are the published ones and ``tuned`` those of a search, for at most as many epochs as NCGNN has.
    """

    model: str
    settings: Literal["preset", "published", "rival", "tuned", "default", "extended"]
    variant: str = ""
    changes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def definition(self) -> Model[Any]:
        return model_of(self.model)


_RIVALS = {
    "GAT": ("gat", ""),
    "SGC": ("sgc", ""),
    "APPNP": ("appnp", ""),
    "JK-Net": ("jk-net", ""),
    "DAGNN": ("dagnn", ""),
    "GCNII": ("gcnii", ""),
    "Scattering GCN": ("scattering-gcn", ""),
    "AdaEdge": ("adaedge", ""),
    "DropEdge": ("dropedge", ""),
    "BBGDC": ("bbgdc", ""),
    "Geom-GCN-I": ("geom-gcn", "isomap"),
    "Geom-GCN-P": ("geom-gcn", "poincare"),
    "Geom-GCN-S": ("geom-gcn", "struc2vec"),
    "H2GCN-1": ("h2gcn", "1"),
    "H2GCN-2": ("h2gcn", "2"),
    "LINKX": ("linkx", ""),
    "GPR-GNN": ("gpr-gnn", ""),
    "ACM-GCN": ("acm-gcn", ""),
    "FSGNN": ("fsgnn", ""),
    "Dir-GNN": ("dir-gnn", ""),
    "GCN of Luo et al.": ("tuned-gcn", ""),
    "GraphSAGE of Luo et al.": ("tuned-sage", ""),
    "GRAND": ("grand", ""),
    "Ordered GNN": ("ordered-gnn", ""),
    "boosting": ("boosting", ""),
    BOOSTED: ("neighbour-boosting", ""),
    "label propagation": ("label-propagation", ""),
    "Correct and Smooth": ("correct-and-smooth", ""),
    "linear GNN": ("linear-gnn", ""),
}

_ABLATED: dict[str, tuple[str, dict[str, Any]]] = {
    "T = 1": ("ncgnn", {"iterations": 1}),
    "K = 1": ("ncgnn", {"num_capsules": 1}),
    "beta = 0": ("ncgnn", {"beta": 0}),
    "beta = 1": ("ncgnn", {"beta": 1}),
    "beta = 20": ("ncgnn", {"beta": 20}),
    "over classes": (OVER_CLASSES.name, {}),
    "cross-entropy": (WITH_CROSS_ENTROPY.name, {}),
    "top 32": ("ncgnn", {"top_k": 32, "epsilon": None}),
    "top 128": ("ncgnn", {"top_k": 128, "epsilon": None}),
}

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
    TUNED[MLP]: Line("mlp", "tuned"),
    **{name: Line(model, "rival", variant) for name, (model, variant) in _RIVALS.items()},
    **{TUNED[name]: Line(model, "tuned", variant) for name, (model, variant) in _RIVALS.items()},
    **{ABLATED[name]: Line(model, "preset", "attention", changes) for name, (model, changes) in _ABLATED.items()},
}


def model_of(name: str) -> Model[Any]:
    """A model of the registry or of the ablation."""
    return next((model for model in (OVER_CLASSES, WITH_CROSS_ENTROPY) if model.name == name), None) or find_model(name)


@dataclass(frozen=True)
class Recipe:
    """A model of the registry with settings, seed 0, and the models it learns from besides the labels."""

    model: str
    settings: RunSettings
    teachers: tuple["Recipe", ...] = ()

    @property
    def definition(self) -> Model[Any]:
        return model_of(self.model)

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
    found = settings_of(line, cell.graph, cell.hops, cell.change)
    return None if found is None else Recipe(line.model, found)


def settings_of(
    line: Line, graph: str, hops: int | None = None, change: Mapping[str, Any] | None = None
) -> RunSettings | None:
    """The settings of a line for a graph, with a receptive field of this many hops where that is asked for."""
    model = line.definition
    if line.settings in ("published", "rival"):
        found: RunSettings | None = model.published(graph, hops)
    elif line.settings == "default":
        found = model.settings_class.make({})
    else:
        found = model.preset(graph, line.variant)
        found = None if found is None else model.within(found, hops)
    if found is None:
        return None
    changes = model.of_variant(line.variant) if line.settings in ("published", "rival") else {}
    changes |= _as_long_as_ncgnn(found) if line.settings in ("rival", "tuned") else {}
    changes |= _of_products(model, graph, found) if line.settings == "rival" else {}
    made: RunSettings = model.settings_class.make(
        found.model_dump() | changes | dict(line.changes) | dict(change or {})
    )
    return made


def _as_long_as_ncgnn(settings: RunSettings) -> dict[str, Any]:
    """At most as many epochs as NCGNN has."""
    most = {"epochs": MOST_EPOCHS, "patience": MOST_PATIENCE}
    return {name: min(getattr(settings, name), limit) for name, limit in most.items() if hasattr(settings, name)}


def _of_products(model: Model[Any], graph: str, published: RunSettings) -> dict[str, Any]:
    """On co-purchase graphs for which the authors published no settings, unchanged features, because rows of length one
    cost all models accuracy there."""
    info = find_info(graph)
    is_known = preset_path(model.name, graph, "published").is_file()
    if info is None or info.family != "co-purchase" or is_known or not hasattr(published, "normalize_features"):
        return {}
    return {"normalize_features": False}


def reported(cell: Cell) -> float | None:
    """What others report for a rival that is not in the paper, on the same splits."""
    line = LINES[cell.model]
    if line.settings != "rival":
        return None
    figures = published_figures(line.definition.name)
    return figures.get((cell.dataset, cell.setting))


def extended_path(line: Line, graph: str) -> Path:
    """The file of an extended model: its settings, which teachers it has, and their settings."""
    folder = Path(str(resources.files("ncgnn.experiments"))) / "extended"
    return folder / f"{graph.replace(':', '-')}-{line.definition.label(line.variant)}.toml"


def extended_recipe(line: Line, graph: str, hops: int | None = None) -> Recipe | None:
    """What the file of an extended model says; the number of hops limits the model, not its other teachers."""
    path, model = extended_path(line, graph), line.definition
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
