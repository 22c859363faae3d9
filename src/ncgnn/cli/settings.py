"""The options that decide on a model's settings."""

import os
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ncgnn.errors import InputError

if TYPE_CHECKING:
    from ncgnn.models import Model, RunSettings

PANEL = "Model"
ConfigFile = Annotated[Path | None, typer.Option("--config", help="TOML file with settings.", rich_help_panel=PANEL)]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Override one setting, e.g. hops=3. Repeatable.", rich_help_panel=PANEL
    ),
]
ModelName = Annotated[
    str,
    typer.Option(
        "--model",
        metavar="NAME",
        help="Model to train: a built-in name (see `ncgnn models`) or your own class as package.module:Name.",
        rich_help_panel=PANEL,
    ),
]
DEFAULT_MODEL = "ncgnn"
Filter = Annotated[
    str | None, typer.Option(help="NCGNN graph filter: attention (default) or diffusion.", rich_help_panel=PANEL)
]


def choose_model(name: str) -> "Model[Any]":
    """A model of the registry, or the user's own as ``package.module:Name``, looked for in this folder, too."""
    from ncgnn.models import resolve

    if ":" in name:
        sys.path.insert(0, os.getcwd())
    return resolve(name)


def setting_files(config: Path | None, model: str) -> list[Path]:
    """Every file that the settings and the user's own model are read from."""
    return [*([] if config is None else [config]), *code_files(model)]


def code_files(model: str) -> list[Path]:
    """Where the code of ``package.module:Name`` may be, in this folder."""
    module = model.partition(":")[0].split(".")
    return [Path(*module).with_suffix(".py"), Path(*module) / "__init__.py"] if ":" in model else []


def choose_settings(
    model: "Model[Any]", file: Path | None, settings: list[str] | None, options: dict[str, Any], graph: str | None
) -> "RunSettings":
    """From weak to strong: the graph's preset or the file, single settings, options of their own."""
    from ncgnn.files import read_toml

    given = {key: value for key, value in options.items() if value is not None}
    for option in given:
        if option not in model.settings_class.model_fields:
            raise InputError(f"{model.title} has no setting {option}: remove --{option}")
    changes = dict(_parsed(text) for text in settings or ()) | given
    variant = changes.get("filter", next(iter(model.variants), ""))
    start = model.starting(graph or "", variant) if file is None else read_toml(file)
    where = "settings" if file is None else f"{file} with changes" if changes else str(file)
    found: RunSettings = model.settings_class.make(start | changes, where)
    return found


def _parsed(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals:
        raise InputError(f"--set {text}: write KEY=VALUE, for example --set dropout=0.5")
    try:
        return key.strip(), tomllib.loads(f"value = {value}")["value"]
    except (ValueError, RecursionError):
        return key.strip(), value  # a bare word is a string
