"""``ncgnn explain --evaluate``: how far explanations can be trusted, and how they compare with other methods."""

import csv
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from ncgnn.cli.notes import note
from ncgnn.cli.progress import print_tables, refuse
from ncgnn.errors import InputError
from ncgnn.text import several

if TYPE_CHECKING:
    from ncgnn.explain import GraphExplainer
    from ncgnn.explain.quality import Audit, Measurement

SAMPLE = 30
"""Nodes that are compared by default; with fewer, most differences are chance."""
_WIDTH = 180  # of all columns
_COLUMNS = {
    "characterisation": "characterisation ↑",
    "characterisation, probability": "characterisation,\nprobability ↑",
    "fidelity+": "fidelity+ ↑",
    "fidelity-": "fidelity- ↓",
    "insertion": "insertion ↑",
    "deletion": "deletion ↓",
    "stability over repeats": "stability\nover repeats ↑",
    "seconds a node": "seconds\nper node ↓",
    "precision of planted neighbours": "planted\nneighbours ↑",
    "precision of planted features": "planted\nfeatures ↑",
}


def check_evaluate(out: Path | None, others: dict[str, object]) -> None:
    """Whether options were given that a comparison has no use for, before minutes are spent on it."""
    refuse(others, "--evaluate compares methods on a random sample of nodes")
    if out is not None and out.suffix != ".csv":
        raise InputError(f"{out}: measures are written as CSV: give a .csv file")


def run_evaluation(explainer: "GraphExplainer", count: int, out: Path | None) -> None:
    """Compare all methods on test nodes of the run, show the table, and write all measures where that is asked."""
    from ncgnn.cli.progress import status
    from ncgnn.explain.quality import Measurement, Subject, audit, evaluate, sample

    data = explainer.scored.data
    subject = Subject(explainer.trace, data.edge_index)
    nodes = sample(data, count)
    with status(f"{data.name}: evaluating explanations") as tell:
        tell(f"audit on {several(len(nodes), 'node')}")
        found = audit(explainer.removal, nodes)
        rows = list(evaluate(subject, data, nodes, tell))
    _show_audit(found)
    rows += [Measurement("audit", name, None, value, found.nodes) for name, value in found.rows() if value is not None]
    if out is not None:
        _write(out, rows)
    _show(rows)
    if len(nodes) < SAMPLE:
        remedy = "there are no more" if len(nodes) < count else f"use --sample {SAMPLE} or more to compare methods"
        note(f"{several(len(nodes), 'node')} is too small a sample: {remedy}")


def _write(out: Path, rows: "list[Measurement]") -> None:
    from ncgnn.files import atomic

    with atomic(out) as file:
        table = csv.DictWriter(file, list(asdict(rows[0])), lineterminator="\n")
        table.writeheader()
        table.writerows(map(asdict, rows))


def _show_audit(found: "Audit") -> None:
    """How far the reasons can be trusted, and the numbers behind it."""
    from rich.table import Table

    print(found.verdict)
    table = Table(title=f"Audit of {several(found.nodes, 'prediction')}")
    table.add_column("measure", no_wrap=True)
    table.add_column("value", justify="right")
    for name, value in found.rows():
        table.add_row(name, "not defined" if value is None else f"{value:.3f}")
    print_tables(table, least=_WIDTH)


def _show(rows: "list[Measurement]") -> None:
    from rich.table import Table

    values = {(row.method, row.measure): row for row in rows if row.sparsity is None and row.method != "audit"}
    measures = [name for name in _COLUMNS if any(measure == name for _, measure in values)]
    about = f"Explanations of {several(rows[0].nodes, 'node')}, means over sparsities from 0.5 to 0.99"
    table = Table(title=f"{about}; ↑ higher is better, ↓ lower is better")
    table.add_column("method", no_wrap=True)
    for measure in measures:
        table.add_column(_COLUMNS[measure], justify="right")
    for method in dict.fromkeys(method for method, _ in values):
        found = [values.get((method, measure)) for measure in measures]
        table.add_row(method, *("" if one is None else f"{one.value:.4f}" for one in found))
    print_tables(table, least=_WIDTH)
