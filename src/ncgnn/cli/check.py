"""``ncgnn check``: what will go wrong with a graph, before training."""

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from ncgnn.cli import graph as g
from ncgnn.cli import train as t
from ncgnn.errors import InputError

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from ncgnn.check import Finding, Report

SplitSeed = Annotated[int, typer.Option(min=0, help="Seed, or number, of the split.", rich_help_panel="Split")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def check(
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
    config: t.ConfigFile = None,
    settings: t.Settings = None,
    filter: t.Filter = None,
    per_class: t.PerClass = None,
    val: t.Val = None,
    fractions: t.Fractions = None,
    split_seed: SplitSeed = 0,
    as_json: Json = False,
) -> None:
    """Check a graph before training: copies of nodes, leaks, labels, features, homophily, expected time and memory.

    It takes the options of ncgnn train and looks at the split and the settings that training would use. Exit code 1
    says that something serious was found: results would mislead.

    Example: `ncgnn check karate`

    Example: `ncgnn check --nodes nodes.csv --edges edges.csv --label topic`
    """
    from ncgnn.check import check_graph
    from ncgnn.check.labels import refused_split
    from ncgnn.data.local import data_folders

    kinds = g.kinds(numeric=numeric, categorical=categorical, date=date, text=text, ignore=ignore)
    tables = g.Tables(nodes, edges, id, label, source, target, weight, direction=direction, columns=columns, **kinds)
    chosen = t.choose_settings(config, settings, {"filter": filter}, graph)
    found = g.find_graph(graph, tables, data)
    split, refusal = _split(found, t.SplitRule(per_class, val, fractions), split_seed)
    report = check_graph(split, chosen, data_folders(data))
    if refusal:
        report = replace(report, findings=[refused_split(refusal), *report.findings])
    print(json.dumps(report.to_dict(), indent=2) if as_json else "\n".join(_lines(report)))
    raise typer.Exit(1 if report.is_serious else 0)


def _split(found: "Data", rule: t.SplitRule, number: int) -> "tuple[Data, str]":
    """The graph with its split, or without one and the reason why it has none."""
    try:
        return rule.apply(found, number), ""
    except InputError as error:
        if rule != t.SplitRule(None, None, None):  # a mistake in the options, not in the graph
            raise
        return found, str(error)


def _lines(report: "Report") -> list[str]:
    size = f"{report.nodes} nodes, {report.edges} edges, {report.features} features, {report.classes} classes"
    lines = [f"{report.graph}: {size}, {report.labelled} labelled nodes", _homophily(report), _cost(report)]
    for finding in report.findings:
        lines += ["", *_finding(finding)]
    return [*lines, "", _summary(report)]


def _homophily(report: "Report") -> str:
    h = report.homophily
    numbers = f"edge {h.edge:.2f}, node {h.node:.2f}, adjusted {h.adjusted:.2f}, after two steps {h.two_steps:.2f}"
    return f"homophily: {numbers}: {h.meaning}"


def _cost(report: "Report") -> str:
    cost = report.cost
    fewest, most = (_duration(cost.epoch_seconds * epochs) for epochs in cost.epochs)
    memory = f"{max(1, round(cost.megabytes))} MB of memory, {round(cost.free_megabytes)} MB are free"
    return f"training: about {fewest} to {most} ({cost.epochs[0]} to {cost.epochs[1]} epochs), {memory}"


def _duration(seconds: float) -> str:
    return f"{max(1, round(seconds))} s" if seconds < 120 else f"{round(seconds / 60)} min"


def _finding(finding: "Finding") -> list[str]:
    more = ", ..." if finding.count > len(finding.first) else ""
    where = [f"  where: {', '.join(finding.first)}{more}"] if finding.first else []
    return [f"{finding.level}: {finding.what}", *where, f"  why: {finding.why}", f"  what to do: {finding.advice}"]


def _summary(report: "Report") -> str:
    levels = [finding.level for finding in report.findings]
    counts = {"serious": levels.count("serious"), "warnings": levels.count("warning"), "notes": levels.count("note")}
    return ", ".join(f"{count} {name}" for name, count in counts.items())
