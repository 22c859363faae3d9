"""``ncgnn train``: one run, or one for each of several splits."""

import json
import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ncgnn.cli import graph as g
from ncgnn.errors import InputError

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from ncgnn.train import Config

_MODEL, _SPLIT = "Model", "Split"
_ENOUGH_TO_SET_ASIDE = 100  # validation nodes: fifty still choose the weights well enough
ConfigFile = Annotated[Path | None, typer.Option("--config", help="TOML file of settings.", rich_help_panel=_MODEL)]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="One setting, as in TOML. Repeatable.", rich_help_panel=_MODEL),
]
Filter = Annotated[str | None, typer.Option(help="attention or diffusion.", rich_help_panel=_MODEL)]
Epochs = Annotated[int | None, typer.Option(help="Most epochs.", rich_help_panel=_MODEL)]
Seed = Annotated[int | None, typer.Option(help="Seed of weights and dropout.", rich_help_panel=_MODEL)]
PerClass = Annotated[int | None, typer.Option(help="Training nodes of each class.", rich_help_panel=_SPLIT)]
Val = Annotated[
    int | None, typer.Option(help="Validation nodes, with --per-class; default: 500.", rich_help_panel=_SPLIT)
]
Fractions = Annotated[
    tuple[float, float] | None,
    typer.Option(metavar="TRAIN VAL", help="Shares of each class for training and validation.", rich_help_panel=_SPLIT),
]
SplitSeed = Annotated[int, typer.Option(min=0, help="Seed, or number, of the first split.", rich_help_panel=_SPLIT)]
Splits = Annotated[int, typer.Option(min=1, help="How many splits to run, one after another.", rich_help_panel=_SPLIT)]
Calibrate = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE",
        help="Share of the validation nodes that makes probabilities honest instead; 0: none. Default: half of 100 or"
        " more in a graph of your own, else none.",
        rich_help_panel=_SPLIT,
    ),
]
Out = Annotated[Path | None, typer.Option(help="Run folder; default: runs/GRAPH.")]
Picture = Annotated[bool, typer.Option("--picture", help="Draw a t-SNE map of the class capsules.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def train(
    graph: g.Graph = None,
    nodes: g.Nodes = None,
    edges: g.Edges = None,
    id: g.Id = None,
    label: g.Label = None,
    source: g.Source = None,
    target: g.Target = None,
    weight: g.Weight = None,
    direction: g.Direction = None,
    numeric: g.Numeric = None,
    categorical: g.Categorical = None,
    date: g.Date = None,
    text: g.Text = None,
    ignore: g.Ignore = None,
    columns: g.Columns = None,
    data: g.DataFolder = None,
    config: ConfigFile = None,
    settings: Settings = None,
    filter: Filter = None,
    epochs: Epochs = None,
    seed: Seed = None,
    per_class: PerClass = None,
    val: Val = None,
    fractions: Fractions = None,
    split_seed: SplitSeed = 0,
    splits: Splits = 1,
    calibrate: Calibrate = None,
    out: Out = None,
    picture: Picture = False,
    as_json: Json = False,
) -> None:
    """Train on a graph and write a run folder: run.json, history.csv, model.safetensors, predictions.csv.

    Known graphs have settings of their own, not searched yet; --config replaces those, --set and the options below
    change single ones. Known graphs are split as in the paper, other ones into 60/20/20 % of each class.

    Example: `ncgnn train karate --epochs 50`

    Example: `ncgnn train --nodes nodes.csv --edges edges.csv --label topic --out runs/topics`
    """
    from ncgnn.train.folder import check_writable

    kinds = g.kinds(numeric=numeric, categorical=categorical, date=date, text=text, ignore=ignore)
    tables = g.Tables(nodes, edges, id, label, source, target, weight, direction=direction, columns=columns, **kinds)
    g.check_label(graph, tables)
    chosen = choose_settings(config, settings, {"filter": filter, "epochs": epochs, "seed": seed}, graph)
    rule = SplitRule(per_class, val, fractions)
    found = g.find_graph(graph, tables, data)
    folder = out or Path("runs") / file_name(found.name)
    numbers = range(split_seed, split_seed + splits)
    is_own = graph is None or graph.endswith((".npz", ".graphml"))
    all_splits = [(number, _aside(rule.apply(found, number), calibrate, number, is_own)) for number in numbers]
    folders = [folder] if splits == 1 else [folder / f"split-{number}" for number in numbers]
    if splits > 1 and (folder / "model.safetensors").exists():
        raise InputError(f"{folder}: holds a run on one split already: choose another --out for {splits} splits")
    for where in folders:
        check_writable(where)
    if not as_json:
        g.show_roles(found)
    results = [
        _one_run(split, number, chosen, where, picture)
        for (number, split), where in zip(all_splits, folders, strict=True)
    ]
    _report(results, folders, _summary(all_splits[0][1]), as_json)


@dataclass(frozen=True)
class SplitRule:
    """How the labelled nodes are divided."""

    per_class: int | None
    val: int | None
    fractions: tuple[float, float] | None

    def apply(self, data: "Data", number: int) -> "Data":
        from ncgnn.data import split_stratified, usual_split

        if self.per_class is not None and self.fractions is not None:
            raise InputError("--per-class and --fractions exclude each other: keep one")
        if self.val is not None and self.per_class is None:
            raise InputError("--val goes with --per-class; with --fractions the second number is the validation share")
        if self.per_class is not None:
            return self._per_class(data, self.per_class, number)
        if self.fractions is not None:
            return split_stratified(data, *self.fractions, seed=number)
        return usual_split(data, number)

    def _per_class(self, data: "Data", per_class: int, number: int) -> "Data":
        from ncgnn.data import split_per_class

        try:
            return split_per_class(data, per_class, 500 if self.val is None else self.val, number)
        except InputError as error:
            raise InputError(
                f"{error} (--per-class {per_class}, --val {500 if self.val is None else self.val})"
            ) from None


def _aside(data: "Data", share: float | None, number: int, is_own: bool) -> "Data":
    """The split with nodes set aside for calibration, as asked or, in a graph of one's own, where there are enough."""
    from ncgnn.data import set_aside

    if share is None:
        share = 0.5 if is_own and int(data.val_mask.sum()) >= _ENOUGH_TO_SET_ASIDE else 0.0
    return set_aside(data, share, number) if share else data


def choose_settings(
    file: Path | None, settings: list[str] | None, options: dict[str, Any], graph: str | None
) -> "Config":
    """From weak to strong: the graph's preset or the file, single settings, options of their own."""
    from ncgnn.train import Config, preset
    from ncgnn.train.config import read_toml

    changes = dict(_parsed(text) for text in settings or ())
    changes |= {key: value for key, value in options.items() if value is not None}
    start = preset(graph or "", changes.get("filter", "attention")) if file is None else read_toml(file)
    where = "settings" if file is None else f"{file} with changes" if changes else str(file)
    return Config.make(start | changes, where)


def _parsed(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals:
        raise InputError(f"--set {text}: write KEY=VALUE, for example --set dropout=0.5")
    try:
        return key.strip(), tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return key.strip(), value  # a bare word is a string


def _summary(data: "Data") -> str:
    """What was read, in a line: a wrong column or file shows here."""
    parts = [int(data[f"{key}_mask"].sum()) for key in ("train", "val", "test")]
    aside = f", {int(data.calibration_mask.sum())} to calibrate" if "calibration_mask" in data else ""
    return (
        f"{data.name}: {data.num_nodes} nodes, {data.edge_index.shape[1] // 2} edges, {data.x.shape[1]} features, "
        f"{len(data.class_names)} classes, {int((data.y >= 0).sum())} labelled nodes: {parts[0]} to train, "
        f"{parts[1]} to validate{aside}, {parts[2]} to test"
    )


def file_name(name: str) -> str:
    """A graph's name as that of a folder; a file from elsewhere may be called anything."""
    return re.sub(r"[^\w.:-]+", "_", name).strip("._") or "graph"


def _one_run(data: "Data", number: int, config: "Config", folder: Path, picture: bool) -> dict[str, Any]:
    from ncgnn.cli.progress import epochs
    from ncgnn.train.classifier import NCGNNClassifier
    from ncgnn.train.folder import write_run

    with epochs(f"{data.name} split {number}", config.epochs) as show:
        classifier = NCGNNClassifier.from_config(config).fit(data, on_epoch=show)
    result = write_run(folder, classifier, data, number, command=sys.argv[1:])
    if picture:
        from ncgnn.train.picture import draw_capsules

        with g.notices():
            draw_capsules(folder / "capsules.png", classifier, data)
    return result


def _report(results: list[dict[str, Any]], folders: list[Path], summary: str, as_json: bool) -> None:
    if as_json:
        print(json.dumps(results if len(results) > 1 else results[0], indent=2))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for title in ("split", "best epoch", "validation", "test", "seconds"):
        table.add_column(title, justify="right")
    table.add_column("folder", overflow="fold")
    for result, folder in zip(results, folders, strict=True):
        metrics = result["metrics"]
        shown = [_percent(metrics[key]) for key in ("val_accuracy", "test_accuracy")]
        table.add_row(
            str(result["split"]["number"]),
            str(metrics["best_epoch"]),
            *shown,
            f"{result['seconds']:.1f}",
            Text(str(folder)),
        )
    if len(results) > 1:
        means = [_percent(_mean(results, key)) for key in ("val_accuracy", "test_accuracy")]
        table.add_section()
        table.add_row("mean", "", *means, "", "")
    print(summary)
    Console().print(table)


def _mean(results: list[dict[str, Any]], key: str) -> float | None:
    values = [result["metrics"][key] for result in results]
    return None if None in values else sum(values) / len(values)


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.2%}"
