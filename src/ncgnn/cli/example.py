"""``ncgnn example``: tables to try everything on."""

from pathlib import Path
from typing import Annotated

import typer

from ncgnn.errors import InputError

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder to write them into; it is made if need be.")]


def example(folder: Folder = Path("shop")) -> None:
    """Write example tables: the products of an invented shop and what is bought together, now and a month later.

    They are those of the guide, docs/guide.md.

    Example: `ncgnn example`
    """
    from ncgnn.data.shop import shop_tables
    from ncgnn.files import atomic

    tables = shop_tables()
    for path in (folder / name for name in tables):
        if path.exists():
            raise InputError(f"{path}: is there already and is not overwritten: name another folder")
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        with atomic(folder / name) as file:
            table.to_csv(file, index=False, lineterminator="\n")
        print(f"{folder / name}: {len(table)} rows, {', '.join(table.columns)}")
