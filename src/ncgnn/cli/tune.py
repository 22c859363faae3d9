"""``ncgnn tune``: tune settings for a graph on validation accuracy."""

import json
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ncgnn.cli import graph as g
from ncgnn.cli import settings as c
from ncgnn.cli.notes import note
from ncgnn.cli.output import Overwrite, check_no_input, check_output, output_option, starts_with
from ncgnn.errors import InputError
from ncgnn.extras import install

if TYPE_CHECKING:
    from optuna import Study
    from optuna.trial import FrozenTrial
    from torch_geometric.data import Data

    from ncgnn.models import Model
    from ncgnn.tune.search import Search
    from ncgnn.tune.tunable import Tunable

_STUDIES = Path("results/studies")
TABLE = "number,state,"
"""How the table of a study begins."""

_STORE = "Storage"
_FILTER = (
    "NCGNN graph filter: attention (default) or diffusion; or a variant of another model: isomap, poincare or struc2vec"
    " of geom-gcn, 2 or 1 of h2gcn."
)
Filter = Annotated[str | None, typer.Option(help=_FILTER)]
Trials = Annotated[
    int, typer.Option(min=1, help="Stop after this many finished trials in total, including earlier runs.")
]
Minutes = Annotated[float | None, typer.Option("--time", min=0, help="Start no new trial after this many minutes.")]
Splits = Annotated[
    int | None,
    typer.Option(
        min=1, max=1000, help="Number of splits to validate on; default: 2 if available (1 per graph for a group)."
    ),
]
Confirm = Annotated[int, typer.Option(min=1, help="Rerun the best N trials with a second seed, then pick the winner.")]
Jobs = Annotated[int, typer.Option(min=1, help="Number of parallel worker processes (one thread each).")]
Seed = Annotated[int, typer.Option(min=0, help="Random seed of the search.")]
Storage = Annotated[
    str | None,
    typer.Option(help="Database URL, e.g. postgresql://...; default: an SQLite file.", rich_help_panel=_STORE),
]
ExportOnly = Annotated[
    bool, typer.Option("--export-only", help="Export the results without running any trials.", rich_help_panel=_STORE)
]
Out = Annotated[
    Path | None,
    output_option("Output file; default: GRAPH-FILTER.toml or GRAPH-MODEL.toml.", panel=_STORE),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


@g.takes_graph
def tune(
    graph: g.GraphOptions,
    model: c.ModelName = c.DEFAULT_MODEL,
    filter: Filter = None,
    trials: Trials = 30,
    minutes: Minutes = None,
    splits: Splits = None,
    confirm: Confirm = 3,
    jobs: Jobs = 1,
    seed: Seed = 0,
    storage: Storage = None,
    export_only: ExportOnly = False,
    out: Out = None,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """Tune hyperparameters for a graph. Test labels are never used.

    Trials are stored in results/studies: rerun the command to resume; several processes or machines can share a study.
    GRAPH can also be a group: `syn-cora` (five Syn-Cora graphs) or `default` (six diverse graphs, to find settings that
    transfer to new ones). The best settings are written to a TOML file for
    `ncgnn train GRAPH --model NAME --config FILE`.

    Example: `ncgnn tune karate --trials 3 --confirm 1`
    """
    from ncgnn.data.named.registry import GROUPS
    from ncgnn.memory import check_processes

    definition = c.choose_model(model)
    variant = _variant(definition, filter)
    from ncgnn.tune.tunable import Tunable  # after the check that its package is installed

    graph.check_label()
    check_processes(jobs - 1)
    graphs = _graphs(graph)
    name = graph.name if graph.name in GROUPS else graphs[0].name
    tunable = Tunable(definition, "" if graph.is_own else name, variant)  # a file may be called like a built-in dataset
    search = _search(name, graphs, tunable, splits, trials, minutes, seed, storage)
    place = out or Path(f"{search.name}.toml")
    _check_place(place, f"# ncgnn tune {name} {_what(model, variant)}--trials", overwrite)
    _check_place(_table(search), TABLE, overwrite)
    _check_no_study(place, search)
    for file in (place, _table(search)):
        check_no_input(file, [*graph.files, *c.setting_files(None, model)])
    _STUDIES.mkdir(parents=True, exist_ok=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    study = search.open() if export_only else _run(search, jobs, as_json)
    command = f"ncgnn tune {name} {_options(model, variant, trials, minutes, splits, confirm, jobs, seed)}"
    _finish(search, study, confirm, place, command, as_json)


def _variant(model: "Model[Any]", filter: str | None) -> str:
    """The variant of the model that is tuned: that with this filter."""
    if filter is not None and filter not in model.variants:
        known = f"unknown filter; known: {', '.join(model.variants)}" if model.variants else f"{model.title} has none"
        raise InputError(f"--filter {filter}: {known}")
    if find_spec("optuna") is None:
        raise InputError(f"ncgnn tune requires optuna: {install('tune')}")
    return filter or next(iter(model.variants), "")


def _graphs(graph: g.GraphOptions) -> list["Data"]:
    from ncgnn.data.named.registry import GROUPS

    if graph.name not in GROUPS:
        return [graph.find()]
    return [replace(graph, name=name).find() for name in GROUPS[graph.name]]


def _search(
    name: str,
    graphs: list["Data"],
    tunable: "Tunable",
    splits: int | None,
    trials: int,
    minutes: float | None,
    seed: int,
    storage: str | None,
) -> "Search":
    from ncgnn.cli.train import file_name
    from ncgnn.tune.search import Search
    from ncgnn.tune.tunable import hidden_splits

    file = _STUDIES / f"{file_name(name)}-{tunable.kind}"
    return Search(
        tunable,
        [hidden_splits(graph, splits or (1 if len(graphs) > 1 else None)) for graph in graphs],
        file.name,
        storage or f"sqlite:///{file}.db",
        file.with_name(f"{file.name}.lock"),
        trials,
        None if minutes is None else 60 * minutes,
        seed,
    )


def _check_place(place: Path, start: str, overwrite: bool) -> None:
    """Whether a file may be written there; one of this search, which is known by its start, is replaced."""
    from ncgnn.classifier.run_folder import check_writable

    if place.is_dir():
        raise InputError(f"--out {place}: is a folder: give a file name")
    check_writable(place.parent)
    if place.parent.exists():
        check_output(place, overwrite or starts_with(place, start), ())


def _check_no_study(place: Path, search: "Search") -> None:
    """Whether the settings would not replace the database of a study, or what belongs to it."""
    file, database = place.resolve(), Path(search.url.removeprefix("sqlite:///"))
    if file.parent == _STUDIES.resolve() or file == database.resolve():
        raise InputError(f"{place}: is kept for studies: choose another file")


def _options(
    model: str, variant: str, trials: int, minutes: float | None, splits: int | None, confirm: int, jobs: int, seed: int
) -> str:
    """The options that decide the result; what else was typed may hold a password."""
    time = "" if minutes is None else f" --time {minutes:g}"
    number = "" if splits is None else f" --splits {splits}"
    processes = "" if jobs == 1 else f" --jobs {jobs}"
    return f"{_what(model, variant)}--trials {trials}{time}{number} --confirm {confirm}{processes} --seed {seed}"


def _what(model: str, variant: str) -> str:
    return "".join([f"--model {model} "] * (model != c.DEFAULT_MODEL) + [f"--filter {variant} "] * bool(variant))


def _table(search: "Search") -> Path:
    return _STUDIES / f"{search.name}.csv"


def _run(search: "Search", jobs: int, quiet: bool) -> "Study":
    from optuna.trial import TrialState

    from ncgnn.tune.search import run
    from ncgnn.tune.study import count

    busy = count(search.open(), TrialState.RUNNING)
    if busy:
        note(f"waiting for {busy} trials of other processes; they are rerun if those processes died")
    return run(search, jobs, _show_on_stderr if quiet else _show)


def _show_on_stderr(study: "Study", trial: "FrozenTrial") -> None:
    _show(study, trial, stderr=True)


def _show(study: "Study", trial: "FrozenTrial", stderr: bool = False) -> None:
    """One line per trial."""
    from optuna.trial import TrialState
    from rich.console import Console

    from ncgnn.tune.export import seconds, state_name

    complete = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    best = max((one.value for one in complete if one.value is not None), default=None)
    line = f"trial {trial.number:3}  validation {_percent(trial.value)}  best {_percent(best)}"
    console = Console(stderr=stderr, highlight=False)
    console.print(f"{line}  {seconds(trial):7.1f} s  {state_name(trial)}")


def _percent(value: float | None) -> str:
    return "      -" if value is None else f"{value:7.2%}"


def _finish(search: "Search", study: "Study", confirm: int, place: Path, command: str, as_json: bool) -> None:
    from ncgnn.tune.choice import choose
    from ncgnn.tune.export import summary, write_preset, write_trials

    table = _table(search)
    write_trials(table, study)
    winner = choose(search, study, confirm)
    number = sum(map(len, search.splits))
    write_preset(place, study, winner, command, f"{number} split{'s' * (number > 1)}")
    result: dict[str, Any] = summary(study, winner) | {"preset": str(place), "table": str(table)}
    if as_json:
        print(json.dumps(result, indent=2))
    else:
        print(
            f"best trial: {winner.trial.number}, validation accuracy {winner.accuracy:.2%}; settings written to {place}"
        )
