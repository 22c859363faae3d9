"""The report as CSV files, pictures, a Markdown page and in the terminal."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ncgnn.drawing import save
from ncgnn.experiments import curves
from ncgnn.experiments.contest_tables import contest_table, graph_table
from ncgnn.experiments.margins import depth_margins, margins
from ncgnn.experiments.ranks import can_be_drawn, draw_ranks, rank_table, ranking
from ncgnn.experiments.report import defaults, tables
from ncgnn.experiments.results_page import markdown, shown
from ncgnn.experiments.rows import RunRow
from ncgnn.experiments.statistics import Table
from ncgnn.experiments.summary import summary
from ncgnn.experiments.valid_runs import Runs, counted, whole
from ncgnn.files import atomic

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table as RichTable

KEPT = "<!-- from here on: tables of other programs -->"
PICTURES = ("ranks", "fig4", "fig7")


def write_report(rows: Sequence[RunRow], folder: Path, page: Path) -> None:
    """Write a CSV file per table into ``folder``, the Markdown page to ``page``, which keeps what other programs wrote
    below the line :data:`KEPT`, and its pictures into the folder ``figures`` beside it."""
    runs = counted(rows)
    folder.mkdir(parents=True, exist_ok=True)
    compared = whole(runs)
    found = ranking(compared)
    against = [contest_table(compared), graph_table(compared), *([] if found is None else [rank_table(found)])]
    for table in (summary(runs), *tables(runs), *against, margins(runs), depth_margins(runs), defaults(runs)):
        with atomic(folder / f"{table.name}.csv") as file:
            lines = csv.writer(file, lineterminator="\n")
            lines.writerow(table.columns)
            lines.writerows([shown(value) for value in row] for row in table.rows)
    drawn = pictures(runs)
    for name, figure in drawn.items():
        save(figure, page.parent / "figures" / f"{name}.png")
    _, mark, others = page.read_text("utf-8", "replace").partition(KEPT) if page.is_file() else ("", "", "")
    with atomic(page) as file:
        file.write(markdown(rows, drawn) + (f"\n{mark}{others}" if mark else ""))


def pictures(runs: Runs) -> "dict[str, Figure]":
    """What can be drawn of the runs, by name; ranks only with scikit-posthocs."""
    found = ranking(whole(runs)) if can_be_drawn() else None
    ranks = None if found is None else draw_ranks(found)
    drawn = dict(zip(PICTURES, (ranks, curves.sizes(runs), curves.damage(runs)), strict=True))
    return {name: figure for name, figure in drawn.items() if figure is not None}


def rich_table(table: Table) -> "RichTable":
    from rich.table import Table as RichTable

    out = RichTable(title=table.title)
    for i, column in enumerate(table.columns):
        out.add_column(column, justify="left" if i < 3 else "right", no_wrap=True)
    for row in table.rows:
        out.add_row(*map(shown, row))
    return out
