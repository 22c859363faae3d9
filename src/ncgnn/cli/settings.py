"""The options that decide on a model's settings."""

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ncgnn.errors import InputError

if TYPE_CHECKING:
    from ncgnn.models.ncgnn.config import Config

PANEL = "Model"
ConfigFile = Annotated[Path | None, typer.Option("--config", help="TOML file with settings.", rich_help_panel=PANEL)]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Change one setting, e.g. hops=3. Repeatable.", rich_help_panel=PANEL
    ),
]
Filter = Annotated[str | None, typer.Option(help="attention or diffusion.", rich_help_panel=PANEL)]


def choose_settings(
    file: Path | None, settings: list[str] | None, options: dict[str, Any], graph: str | None
) -> "Config":
    """From weak to strong: the graph's preset or the file, single settings, options of their own."""
    from ncgnn.files import read_toml
    from ncgnn.models.ncgnn.config import Config, preset

    changes = dict(_parsed(text) for text in settings or ())
    changes |= {key: value for key, value in options.items() if value is not None}
    start = preset(graph or "", changes.get("filter", "attention")) if file is None else read_toml(file)
    where = "settings" if file is None else f"{file} with changes" if changes else str(file)
    return Config.make(start | changes, where)


def _parsed(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals:
        raise InputError(f"--set {text}: write KEY=VALUE, for example --set dropout=0.5")
    try:
        return key.strip(), tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return key.strip(), value  # a bare word is a string
