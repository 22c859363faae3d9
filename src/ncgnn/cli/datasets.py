"""``ncgnn datasets``: the built-in datasets, with table 1 of the paper recomputed."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ncgnn.cli.progress import print_tables

if TYPE_CHECKING:
    from rich.table import Table

Folder = Annotated[Path | None, typer.Option("--data", help="Folder with .npz graphs; default: $NCGNN_DATA.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]

COLUMNS = ("nodes", "edges", "features", "classes", "edge_homophily")


def datasets(data: Folder = None, as_json: Json = False) -> None:
    """List the built-in datasets and compare local copies with the statistics in Table 1 of the paper.

    Nothing is downloaded: a dataset that is neither in the data folder nor in an installed package has no local values.

    Example: `ncgnn datasets`
    """
    from ncgnn.cli.graph import notices
    from ncgnn.cli.progress import track
    from ncgnn.data import DATASETS

    with notices():
        rows = [_row(name, data) for name in track(list(DATASETS), "reading graphs")]
    if as_json:
        print(json.dumps(rows, indent=2))
        return
    print_tables(_table(rows))


def _row(name: str, folder: Path | None) -> dict[str, Any]:
    from ncgnn.data import DATASETS, local_graph, statistics

    info, graph = DATASETS[name], local_graph(name, folder)
    found = None if graph is None else asdict(statistics(graph))
    paper = None if info.paper is None else asdict(info.paper)
    return {"name": name, "note": info.note, "paper": paper, "found": found, "equal": _equal(paper, found)}


def _equal(paper: dict[str, Any] | None, found: dict[str, Any] | None) -> bool | None:
    """Whether all five numbers agree; homophily has two decimals in the paper. None where one side is missing."""
    if paper is None or found is None:
        return None
    return all(round(found[key], 2) == paper[key] for key in COLUMNS)


def _table(rows: list[dict[str, Any]]) -> "Table":
    from rich.table import Table

    table = Table(title="Built-in datasets: Table 1 of the paper and the local copy", caption=_summary(rows), box=None)
    table.add_column("graph", no_wrap=True)
    for side in ("paper", "here"):
        for title in ("nodes", "edges", "features", "classes", "H"):
            table.add_column(f"{title}\n{side}", justify="right", no_wrap=True)
    table.add_column("")
    for row in rows:
        table.add_row(row["name"], *_cells(row["paper"]), *_cells(row["found"]), _remark(row))
    return table


def _cells(side: dict[str, Any] | None) -> list[str]:
    if side is None:
        return ["-" for _ in COLUMNS]
    return [format(side[key], ".2f" if key == "edge_homophily" else "d") for key in COLUMNS]


def _remark(row: dict[str, Any]) -> str:
    from ncgnn.data import DATASETS

    if row["found"] is None:
        return "generated" if DATASETS[row["name"]].is_generated else "not available"
    return {True: "equal", False: "[red]different[/red]", None: ""}[row["equal"]]


def _summary(rows: list[dict[str, Any]]) -> str:
    published = [row for row in rows if row["paper"] is not None]
    equal = sum(row["equal"] is True for row in published)
    return f"{equal} of the paper's {len(published)} graphs are available and match its table 1"
