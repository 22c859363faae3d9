"""The report as CSV files, as a Markdown page, and in the terminal."""

import csv
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ncgnn.experiments.margins import depth_margins, margins
from ncgnn.experiments.report import defaults, tables
from ncgnn.experiments.rows import RunRow
from ncgnn.experiments.summary import summary
from ncgnn.experiments.table import Table, Value
from ncgnn.experiments.valid_runs import Runs, counted, left_out
from ncgnn.files import atomic

if TYPE_CHECKING:
    from rich.table import Table as RichTable

_SUMMARY = """\
Verdicts are those of NCGNN's cells against the published numbers, on Syn-Cora those by margin. The margins are over
the GCN of its published settings on the same splits, on the citation graphs with the depth that is best in the paper.
"""
_NOTES = """\
Accuracies are in percent. "±" is half the width of the 95 % t-interval over the means of the splits; on Syn-Cora,
which has one split, over the seeds. The verdict compares with the published mean: *above* or *below* if that lies
outside of the interval, else *equal*, which says no more than that the two cannot be told apart. In tables 3, 4, 6 and
7 the interval is first widened by the square root of two, because the paper's random splits are others. Settings were
searched once for a graph, on the validation nodes of some of its splits; a test node of one split may have validated
in another. *GCN* has its published settings, *GCN tuned* those of a search like NCGNN's, *MLP* sees no graph; their
settings are in [How to reproduce](reproduce.md#the-controls).
"""
_MARGINS = """\
Differences on the same splits (same seeds on Syn-Cora), with the interval of the paired differences. In table 3
NCGNN-A is compared with a GCN of as many layers as it has hops; NCGNN-D with the GCN of the depth that is best in the
paper. *In the paper* is the same difference of published numbers, where the paper has both.
"""
_SYNTHETIC = """\
Syn-Cora graphs are drawn at random, and which ones the paper ran on is not known. So NCGNN is judged *by margin*: its
margins over GCN and MLP on the same graphs are compared with the paper's, and the worse of the two verdicts counts.
"""


def write_report(rows: Sequence[RunRow], folder: Path, page: Path) -> None:
    """``folder`` gets a CSV file for each table, ``page`` the Markdown."""
    runs = counted(rows)
    folder.mkdir(parents=True, exist_ok=True)
    for table in (summary(runs), *tables(runs), margins(runs), depth_margins(runs), defaults(runs)):
        with atomic(folder / f"{table.name}.csv") as file:
            lines = csv.writer(file, lineterminator="\n")
            lines.writerow(table.columns)
            lines.writerows([shown(value) for value in row] for row in table.rows)
    with atomic(page) as file:
        file.write(markdown(rows))


def markdown(rows: Sequence[RunRow]) -> str:
    """The whole report as a page."""
    runs = counted(rows)
    start = [f"Written by `ncgnn reproduce`, not by hand. {provenance(rows, runs)}", *left_out(rows), _SUMMARY]
    parts = ["# Results", *start, _markdown_table(summary(runs)), _NOTES]
    for table in tables(runs):
        parts += [f"## {table.title}", _SYNTHETIC if table.name == "table6" else "", _markdown_table(table)]
        parts += _section(depth_margins(runs)) if table.name == "table3" else []
    parts += _section(margins(runs), _MARGINS) + _section(defaults(runs))
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


def _section(table: Table, note: str = "") -> list[str]:
    return [f"## {table.title}", note, _markdown_table(table)]


def provenance(rows: Sequence[RunRow], runs: Runs) -> str:
    """How many runs, of which code, with which versions, where and when."""
    used = [row for found in runs.values() for row in found]
    text = f"{len(used)} of {len(rows)} stored runs are counted"
    others = "; the rest had other settings than their cell has now, or another version of the graph."
    text += others if len(used) < len(rows) else "."
    if not used:
        return text
    versions = "; ".join(f"{name} {_all(used, name)}" for name in ("ncgnn", "torch", "pyg", "numpy"))
    commits = Counter(row.commit or "none" for row in used)
    counts = ", ".join(f"{commit} ({count} runs)" for commit, count in commits.most_common())
    days = sorted({row.date for row in used})
    where = f"Machines: {_all(used, 'cpu')}; from {days[0]} to {days[-1]}."
    return f"{text} Versions: {versions}. Commits (a plus sign: with changes): {counts}. {where}"


def _all(rows: Sequence[RunRow], column: str) -> str:
    return ", ".join(sorted({getattr(row, column) for row in rows}))


def shown(value: Value) -> str:
    if value is None:
        return ""
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def _markdown_table(table: Table) -> str:
    head = [f"| {' | '.join(table.columns)} |", f"|{'---|' * len(table.columns)}"]
    return "\n".join(head + [f"| {' | '.join(map(shown, row))} |" for row in table.rows])


def rich_table(table: Table) -> "RichTable":
    from rich.table import Table as RichTable

    out = RichTable(title=table.title)
    for i, column in enumerate(table.columns):
        out.add_column(column, justify="left" if i < 3 else "right", no_wrap=True)
    for row in table.rows:
        out.add_row(*map(shown, row))
    return out
