"""``ncgnn train``: one run, or one per split."""

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ncgnn.cli import graph as g
from ncgnn.cli import settings as c
from ncgnn.cli import split as p
from ncgnn.cli.earlier import finished, is_begun
from ncgnn.cli.notes import note
from ncgnn.cli.outcome import show
from ncgnn.cli.output import Overwrite, check_no_run, check_run_folder, output_option
from ncgnn.cli.progress import refuse
from ncgnn.cli.run import Extras, Outcome, Plan, run_split
from ncgnn.cli.spreadsheet import note_formulas
from ncgnn.errors import InputError

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from ncgnn.models import Model, RunSettings

Epochs = Annotated[int | None, typer.Option(help="Maximum number of epochs.", rich_help_panel=c.PANEL)]
Seed = Annotated[int | None, typer.Option(help="Random seed for weights and dropout.", rich_help_panel=c.PANEL)]
SplitSeed = Annotated[
    int, typer.Option(min=0, help="Seed for the random split, or index of a published split.", rich_help_panel=p.PANEL)
]
Splits = Annotated[int, typer.Option(min=1, max=1000, help="Number of splits to train on.", rich_help_panel=p.PANEL)]
Calibrate = Annotated[
    float | None,
    typer.Option(
        metavar="FRACTION",
        help="Fraction of validation nodes held out for calibration. Default: with --refit none, since all are used by"
        " cross-validation; else 0.5 for your own graph with 100 or more validation nodes, otherwise 0.",
        rich_help_panel=p.PANEL,
    ),
]
Device = Annotated[
    str,
    typer.Option(help="Device to train on: cpu, cuda, cuda:1 or mps.", rich_help_panel=c.PANEL),
]
Balance = Annotated[
    bool | None,
    typer.Option(
        "--balance", help="Give all classes the same weight, however many nodes they have.", rich_help_panel=c.PANEL
    ),
]
Search = Annotated[
    str | None,
    typer.Option(
        metavar="LEVEL",
        envvar="NCGNN_SEARCH",
        help="How many settings to try on validation nodes: none, quick or thorough. Default: quick for a graph without"
        " a preset if you give no settings, otherwise none.",
        rich_help_panel=c.PANEL,
    ),
]
Batch = Annotated[
    str | None,
    typer.Option(
        metavar="auto|full|N",
        help="Target nodes per step, for NCGNN. Default: auto, the full batch if it fits into half of the free memory.",
        rich_help_panel=c.PANEL,
    ),
]
Minutes = Annotated[float | None, typer.Option(help="Time limit for the search.", rich_help_panel=c.PANEL)]
Refit = Annotated[
    bool | None,
    typer.Option(
        "--refit/--no-refit",
        envvar="NCGNN_REFIT",
        help="Train the final model on all labels; quality is measured before. Default: for your own graph.",
        rich_help_panel=p.PANEL,
    ),
]
Out = Annotated[Path | None, output_option("Run folder; default: runs/GRAPH.")]
Picture = Annotated[bool, typer.Option("--picture", help="Also save a t-SNE plot of the class capsules.")]
Compare = Annotated[bool, typer.Option("--compare", help="Also train simpler baselines and compare.")]
Tensorboard = Annotated[bool, typer.Option("--tensorboard", help="Write TensorBoard logs.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


@g.takes_graph
def train(
    graph: g.GraphOptions,
    model: c.ModelName = c.DEFAULT_MODEL,
    config: c.ConfigFile = None,
    settings: c.Settings = None,
    filter: c.Filter = None,
    epochs: Epochs = None,
    seed: Seed = None,
    device: Device = "cpu",
    balance: Balance = None,
    batch: Batch = None,
    search: Search = None,
    minutes: Minutes = None,
    per_class: p.PerClass = None,
    val: p.Val = None,
    fractions: p.Fractions = None,
    split_seed: SplitSeed = 0,
    splits: Splits = 1,
    calibrate: Calibrate = None,
    refit: Refit = None,
    out: Out = None,
    overwrite: Overwrite = False,
    picture: Picture = False,
    compare: Compare = False,
    tensorboard: Tensorboard = False,
    as_json: Json = False,
) -> None:
    """Train on a graph and write a run folder: run.json, history.csv, model.safetensors, predictions.csv, report.md.

    Most built-in datasets have a preset. --config replaces the preset; --set and the options below override individual
    settings. For any other graph, a search tries several settings on validation nodes (--search).

    Datasets from the paper use the paper's splits, files that define splits use their own, and everything else is split
    60/20/20 (train/val/test) within each class. For your own tables, the final model is trained on all labels
    (--refit).

    Example: `ncgnn train karate --epochs 50`

    Example: `ncgnn train --nodes nodes.csv --edges edges.csv --label topic --out runs/topics`
    """
    from ncgnn.check.batch import with_batch
    from ncgnn.data import complete
    from ncgnn.train.device import find_device, on_device
    from ncgnn.train.processes import agreed, is_shared, rank
    from ncgnn.train.tensorboard import check_tensorboard

    graph.check_label()
    if tensorboard:
        check_tensorboard()
    place = find_device(device)
    definition = c.choose_model(model)
    if picture and not definition.has_reasons:
        raise InputError(f"--picture: {definition.title} has no class capsules to plot")
    if place.type != "cpu" and "epochs" not in definition.settings_class.model_fields:
        raise InputError(f"--device {device}: {definition.title} is trained on the CPU: remove the option")
    options = {"filter": filter, "epochs": epochs, "seed": seed, "balance": balance}
    chosen = c.choose_settings(definition, config, settings, options, graph.name)
    given: dict[str, object] = {"--config": config, "--set": settings, "--filter": filter, "--epochs": epochs}
    given["--batch"] = batch if batch not in ("auto", "full") else None
    if is_shared() and search != "none":
        refuse({"--search": search}, "several processes train one model")
    level = _level(search, given, _is_known(definition, graph.name))
    if level == "none":
        refuse({"--minutes": minutes}, "nothing is searched")
    else:
        refuse({"--tensorboard": tensorboard}, "a search trains many models")
    rule = p.SplitRule(per_class, val, fractions)
    found = complete(graph.find())
    chosen, why = with_batch(chosen, found, batch or "auto")
    is_whole = getattr(chosen, "batch", None) is None
    level = level if is_whole else "none"  # a search trains on the full batch
    if picture and not is_whole:
        raise InputError("--picture: needs the full batch (--batch full)")
    if place.type != "cpu" and not is_whole:
        raise InputError(f"--device {device}: batches are computed on the CPU: remove it, or add --batch full")
    if why and (batch or not is_whole):
        note(why)
    plan = Plan(definition, chosen, level, minutes, _refits(refit, graph.is_own, chosen, definition), why)
    numbers = range(split_seed, split_seed + splits)
    is_aside = graph.is_own and not plan.refit
    divided = [p.with_aside(rule.apply(found, number), calibrate, number, is_aside) for number in numbers]
    extras = Extras(picture, compare, tensorboard)
    folders = _folders(out or Path("runs") / file_name(found.name), numbers)
    earlier = _earlier(folders, divided, plan, extras, overwrite, [*graph.files, *c.setting_files(config, model)])
    if not as_json:
        g.show_roles(found)
    with on_device(place):
        outcomes = [
            done or run_split(data, number, plan, folder, graph, extras)
            for number, data, folder, done in zip(numbers, divided, folders, agreed(earlier), strict=True)
        ]
    if rank() > 0:
        return
    shown = [outcome for outcome in outcomes if outcome is not None]
    note_formulas([*found.node_ids, *found.class_names])
    if as_json:
        runs = [outcome.run for outcome in shown]
        print(json.dumps(runs if splits > 1 else runs[0], indent=2))
    else:
        show(shown, divided[0])


def _is_known(model: "Model[Any]", graph: str | None) -> bool:
    """Whether there is nothing to search: the graph has a preset, or the model has only one setting to try."""
    preset = model.preset(graph, next(iter(model.variants), "")) if graph else None
    return preset is not None or not model.has_portfolio


def _level(search: str | None, given: dict[str, object], is_known: bool) -> str:
    """How much to search: where settings are given or known, only as asked."""
    from ncgnn.search import LEVELS

    if search is None:
        return "none" if is_known or any(value is not None for value in given.values()) else "quick"
    if search not in ("none", *LEVELS):
        raise InputError(f"--search {search}: must be none, {' or '.join(LEVELS)}")
    if search != "none":
        refuse(given, "a search chooses the settings itself")
    return search


def _refits(refit: bool | None, is_own: bool, settings: "RunSettings", model: "Model[Any]") -> bool:
    from ncgnn.search.refit import can_refit

    if refit and not can_refit(model, settings):
        raise InputError(f"--refit: {model.title} is not trained in epochs, whose number could be kept")
    return (is_own if refit is None else refit) and can_refit(model, settings)


def _folders(out: Path, numbers: range) -> list[Path]:
    """The run folder of each split."""
    folders = [out] if len(numbers) == 1 else [out / f"split-{number}" for number in numbers]
    if len(numbers) > 1 and (out / "model.safetensors").exists():
        raise InputError(f"{out}: already contains a single-split run: choose another --out for {len(numbers)} splits")
    return folders


def _earlier(
    folders: list[Path], divided: "list[Data]", plan: Plan, extras: Extras, overwrite: bool, inputs: list[Path]
) -> list[Outcome | None]:
    """What the same command finished before it was killed, once it is sure that all the rest can be written."""
    for folder in folders:
        check_run_folder(folder, inputs, plan.search != "none")
    begun = [not overwrite and is_begun(folder, data, plan) for folder, data in zip(folders, divided, strict=True)]
    done = [finished(folder, extras) if own else None for folder, own in zip(folders, begun, strict=True)]
    is_killed = None in done
    for folder, own in zip(folders, begun, strict=True):
        if not overwrite and not (own and is_killed):
            check_no_run(folder)
    return done


def file_name(name: str) -> str:
    """A graph's name as that of a folder; a file from elsewhere may be called anything."""
    return re.sub(r"[^\w.:-]+", "_", name).strip("._") or "graph"
