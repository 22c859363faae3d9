"""``ncgnn models``: the models that can be trained, tuned, compared and measured."""

import json
from typing import Annotated, Any

import typer

from ncgnn.cli.progress import print_tables

Name = Annotated[str | None, typer.Argument(help="Model whose settings to list.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def models(name: Name = None, as_json: Json = False) -> None:
    """List the available models: inputs, variants, number of presets, and whether explanations are supported.

    With NAME, lists the settings of that model that --set and --config accept.

    Example: `ncgnn models`

    Example: `ncgnn models gcn`
    """
    from ncgnn.models import all_models
    from ncgnn.models.base.model import USES
    from ncgnn.models.base.presets import preset_names

    if name is not None:
        return _settings(name, as_json)

    rows: list[dict[str, Any]] = [
        {
            "name": model.name,
            "model": model.title,
            "uses": USES[model.knows],
            "explains": model.has_reasons,
            "variants": list(model.variants),
            "presets": preset_names(model.name),
        }
        for model in all_models()
    ]
    print(json.dumps(rows, indent=2)) if as_json else _show(rows)


def _settings(name: str, as_json: bool) -> None:
    from rich.table import Table
    from rich.text import Text

    from ncgnn.cli.settings import choose_model

    fields = choose_model(name).settings_class.model_fields.items()
    rows = [{"key": key, "default": field.default, "meaning": field.description or ""} for key, field in fields]
    if as_json:
        print(json.dumps(rows, indent=2))
        return
    table = Table("key", "default", "meaning")
    for row in rows:
        table.add_row(row["key"], Text(json.dumps(row["default"])), Text(row["meaning"]))
    print_tables(table)


def _show(rows: list[dict[str, Any]]) -> None:
    from rich.table import Table

    table = Table()
    for title in ("name", "model", "uses", "explains", "variants", "presets"):
        table.add_column(title, overflow="fold")
    for row in rows:
        explains, variants = "yes" if row["explains"] else "", ", ".join(row["variants"])
        table.add_row(row["name"], row["model"], row["uses"], explains, variants, str(len(row["presets"])))
    print_tables(table)
