"""``ncgnn reproduce``: the paper's tables, run by run, compared with the published numbers."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ncgnn.cli.figures import FIGURES, reproduce_figures
from ncgnn.cli.terminal import print_tables
from ncgnn.errors import InputError

if TYPE_CHECKING:
    from ncgnn.experiments.cells import Cell
    from ncgnn.experiments.one_run import Failure
    from ncgnn.experiments.rows import RunStore

_NAMES = ("table3", "table4", "table5", "table6", "table7", "extra", "default", "all")
_WIDTH = 190  # of the widest table
What = Annotated[list[str], typer.Argument(metavar="TABLE...", help=", ".join((*_NAMES, *FIGURES)))]
Protocol = Annotated[str, typer.Option(help="Number of runs per table cell: paper, core or quick.")]
Models = Annotated[list[str] | None, typer.Option(help="Model to run. Repeatable; default: all.")]
Datasets = Annotated[list[str] | None, typer.Option(help="Graph to run on. Repeatable; default: all.")]
Jobs = Annotated[int, typer.Option(min=1, help="Number of single-threaded processes.")]
Backend = Annotated[str, typer.Option(help="loky (local processes) or dask (cluster).")]
Scheduler = Annotated[str | None, typer.Option(help="Address of a Dask scheduler; default: start a local one.")]
Results = Annotated[Path, typer.Option(help="Folder for runs and tables.")]
Markdown = Annotated[
    Path | None, typer.Option(help="Output page; default: tables/results.md or figures.md in --results.")
]
ReportOnly = Annotated[bool, typer.Option("--report-only", help="Report on existing runs only.")]


def reproduce(
    what: What,
    protocol: Protocol = "quick",
    models: Models = None,
    datasets: Datasets = None,
    jobs: Jobs = 1,
    backend: Backend = "loky",
    scheduler: Scheduler = None,
    results: Results = Path("results"),
    markdown: Markdown = None,
    report_only: ReportOnly = False,
) -> None:
    """Run the experiments of the paper's tables that are still missing and compare with the published numbers.

    Each finished run is saved immediately in RESULTS/runs; rerun the command to resume after an interruption.

    Example: `ncgnn reproduce table6 --models MLP --datasets syn-cora:0.5`
    """
    from ncgnn.classifier.run_folder import check_writable
    from ncgnn.experiments.rows import RunStore
    from ncgnn.files import check_place

    figures = [name for name in what if name in FIGURES]
    if figures:
        if len(figures) < len(what) or models or datasets:
            raise InputError("figures cannot be combined with tables, --models or --datasets")
        return reproduce_figures(figures, results, markdown, report_only)
    _check_choice("--protocol", protocol, ("paper", "core", "quick"))
    _check_choice("--backend", backend, ("loky", "dask"))
    if scheduler is not None and backend != "dask":
        raise InputError("--scheduler requires --backend dask")
    cells = _chosen(what, models, datasets)
    check_writable(results)
    if markdown is not None:
        check_writable(markdown.parent)
        check_place(markdown)
    store = RunStore(results)
    failures = [] if report_only else _run(cells, protocol, store, jobs, backend, scheduler)
    _report(cells, store, results, markdown or results / "tables" / "results.md")
    for failure in failures:
        print(f"ncgnn: {failure}", file=sys.stderr)
    if failures:
        raise typer.Exit(1)


def _check_choice(option: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise InputError(f"{option} {value}: unknown; known: {', '.join(known)}")


def _chosen(what: list[str], models: list[str] | None, datasets: list[str] | None) -> "list[Cell]":
    """The cells that the arguments name; each name must name at least one."""
    from ncgnn.experiments.cells import MODELS, all_cells

    for name in what:
        _check_choice("TABLE", name, (*_NAMES, *FIGURES))
    cells = [c for c in all_cells() if "all" in what or c.table in {name.removeprefix("table") for name in what}]
    for model in models or ():
        _check_choice("--models", model, MODELS)
    graphs = dict.fromkeys(name for cell in cells for name in (cell.dataset, cell.graph))
    for dataset in datasets or ():
        _check_choice("--datasets", dataset, tuple(graphs))
    wanted = [c for c in cells if not datasets or {c.dataset, c.graph} & set(datasets)]
    chosen = [c for c in wanted if not models or c.model in models]
    if not chosen:
        raise InputError(f"no cell of {', '.join(what)} uses these models: {', '.join(models or ())}")
    return chosen


def _run(
    cells: "list[Cell]", protocol: str, store: "RunStore", jobs: int, backend: str, scheduler: str | None
) -> "list[Failure]":
    from ncgnn.cli.graph import notices
    from ncgnn.cli.progress import runs as progress
    from ncgnn.experiments.workers import missing, run_all

    store.repair()
    _note_untuned(cells)
    with notices():  # all graphs are loaded, before hours are spent on the first ones
        todo = missing(cells, protocol, store)  # type: ignore[arg-type]
    if not todo:
        return []
    with progress("runs", len(todo)) as done:
        return run_all(todo, store, jobs, backend, scheduler, lambda result: done())  # type: ignore[arg-type]


def _note_untuned(cells: "list[Cell]") -> None:
    from ncgnn.experiments.recipes import LINES, recipe

    skipped = dict.fromkeys((cell.model, cell.dataset) for cell in cells if recipe(cell) is None)
    for line, dataset in skipped:
        what = f"--model {LINES[line].model}"
        print(f"note: skipping {line} on {dataset}: first run ncgnn tune {dataset} {what}", file=sys.stderr)


def _report(cells: "list[Cell]", store: "RunStore", results: Path, page: Path) -> None:
    from ncgnn.experiments.render import rich_table, write_report
    from ncgnn.experiments.report import tables
    from ncgnn.experiments.valid_runs import counted, left_out

    rows = store.read()
    write_report(rows, results / "tables", page)
    print_tables(*map(rich_table, tables(counted(rows), cells)), least=_WIDTH)
    for line in left_out(rows):
        print(f"note: {line}", file=sys.stderr)
    print(f"{len(rows)} runs in {store.folder}, tables in {results / 'tables'}, page in {page}")
