"""Tuned settings for named graphs: ``presets/<model>/<graph>[-<variant>].toml``."""

import csv
import tomllib
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

PUBLISHED = "-published"
"""Ends the names of files with the authors' settings, which nobody searched."""


def preset_path(model: str, graph: str, variant: str = "") -> Path:
    """The path of the settings for a graph, if any; one file for all graphs of a generated family."""
    family = graph.partition(":")[0]
    return preset_folder(model) / f"{family}{variant and '-'}{variant}.toml"


def preset_folder(model: str) -> Path:
    return Path(str(resources.files("ncgnn.models"))) / "presets" / model


def preset_names(model: str) -> list[str]:
    """The existing files, without suffix."""
    return sorted(file.stem for file in preset_folder(model).glob("*.toml") if not file.stem.endswith(PUBLISHED))


def read_preset(model: str, graph: str, variant: str = "") -> dict[str, Any] | None:
    """The settings in the file; None if it does not exist. Each file is read once."""
    found = _read(preset_path(model, graph, variant))
    return None if found is None else dict(found)


@cache
def published_figures(model: str) -> dict[tuple[str, str], float]:
    """Accuracies in percent that were published for a model, by graph and split, from ``figures.csv`` beside its
    presets."""
    file = preset_folder(model) / "figures.csv"
    rows = csv.DictReader(file.read_text("utf-8").splitlines()) if file.is_file() else ()
    return {(row["graph"], row["protocol"]): float(row["accuracy"]) for row in rows}


@cache
def _read(file: Path) -> dict[str, Any] | None:
    return tomllib.loads(file.read_text("utf-8")) if file.is_file() else None
