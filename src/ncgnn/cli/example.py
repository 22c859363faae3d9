"""``ncgnn example``: example tables."""

from pathlib import Path
from typing import Annotated

import typer

from ncgnn.cli.output import given_path
from ncgnn.errors import InputError

Folder = Annotated[Path, typer.Argument(parser=given_path, metavar="FOLDER", help="Output folder; created if missing.")]


def example(folder: Folder = Path("shop")) -> None:
    """Write example tables: a fictional shop's products and co-purchases, for this month and next.

    The guide, docs/guide.md, uses these tables.

    Example: `ncgnn example`
    """
    from ncgnn.data.generated.shop import shop_tables
    from ncgnn.files import atomic

    tables = shop_tables()
    texts = {folder / name: table.to_csv(index=False, lineterminator="\n") for name, table in tables.items()}
    missing = [path for path, text in texts.items() if not _is_written(path, text)]
    folder.mkdir(parents=True, exist_ok=True)
    for path in missing:
        with atomic(path) as file:
            file.write(texts[path])
    for name, table in tables.items():
        print(f"{folder / name}: {len(table)} rows, {', '.join(table.columns)}")


def _is_written(path: Path, text: str) -> bool:
    """Whether a table is there already, from a run that was stopped perhaps; another file in its place is kept."""
    if not path.exists():
        return False
    if not path.is_file() or path.read_bytes() != text.encode():
        raise InputError(f"{path}: already exists with other contents: choose another folder")
    return True
