"""``ncgnn check``: find problems in a graph before training."""

import json
from dataclasses import replace
from math import isnan
from typing import TYPE_CHECKING, Annotated

import typer

from ncgnn.cli import graph as g
from ncgnn.cli import settings as c
from ncgnn.cli import split as p
from ncgnn.cli.flags import as_options, with_flags
from ncgnn.errors import InputError
from ncgnn.text import several

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from ncgnn.check import Finding, Report
    from ncgnn.check.cost import Cost

SplitSeed = Annotated[
    int, typer.Option(min=0, help="Seed for the random split, or index of a published split.", rich_help_panel=p.PANEL)
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@g.takes_graph
def check(
    graph: g.GraphOptions,
    config: c.ConfigFile = None,
    settings: c.Settings = None,
    filter: c.Filter = None,
    per_class: p.PerClass = None,
    val: p.Val = None,
    fractions: p.Fractions = None,
    split_seed: SplitSeed = 0,
    as_json: Json = False,
) -> None:
    """Check a graph before training: duplicates, leaks, labels, features, homophily, expected time and memory.

    Takes the same graph, split and settings options as ncgnn train and checks the data that training would use. Exits
    with code 1 if it finds a serious problem, one that would make results misleading.

    Example: `ncgnn check karate`

    Example: `ncgnn check --nodes nodes.csv --edges edges.csv --label topic`
    """
    from ncgnn.check import check_graph
    from ncgnn.check.labels import refused_split
    from ncgnn.data.named.packaged import data_folders
    from ncgnn.models.ncgnn import MODEL, Config

    graph.check_label()
    chosen = c.choose_settings(MODEL, config, settings, {"filter": filter}, graph.name)
    assert isinstance(chosen, Config)
    found = graph.find()
    split, refusal = _split(found, p.SplitRule(per_class, val, fractions), split_seed)
    report = check_graph(split, chosen, data_folders(graph.data))
    if refusal:
        report = replace(report, findings=[refused_split(refusal), *report.findings])
    report = replace(report, findings=[_with_flags(finding) for finding in report.findings])
    if not as_json:
        g.show_roles(found)
    print(json.dumps(report.to_dict(), indent=2) if as_json else "\n".join(_lines(report)))
    raise typer.Exit(1 if report.is_serious else 0)


def _split(found: "Data", rule: p.SplitRule, number: int) -> "tuple[Data, str]":
    """The graph with its split, or without one and the reason why it has none."""
    try:
        return rule.apply(found, number), ""
    except InputError as error:
        if rule != p.SplitRule(None, None, None):  # a mistake in the options, not in the graph
            raise
        return found, str(error)


def _with_flags(finding: "Finding") -> "Finding":
    return replace(finding, advice=with_flags(as_options(finding.advice), finding.options))


def _lines(report: "Report") -> list[str]:
    counts = {"node": report.nodes, "edge": report.edges, "feature": report.features, "class": report.classes}
    size = ", ".join(several(count, thing) for thing, count in counts.items())
    lines = [f"{report.graph}: {size}, {several(report.labelled, 'labelled node')}", _homophily(report), _cost(report)]
    for finding in report.findings:
        lines += ["", *_finding(finding)]
    return [*lines, "", _summary(report)]


def _homophily(report: "Report") -> str:
    h = report.homophily
    values = {"edge": h.edge, "node": h.node, "adjusted": h.adjusted, "two-hop": h.two_steps}
    known = ", ".join(f"{name} {value:.2f}" for name, value in values.items() if not isnan(value))
    meaning = as_options(h.meaning)
    return f"homophily ({several(h.edges, 'edge')} between labelled nodes): {known}{'. ' if known else ''}{meaning}"


def _cost(report: "Report") -> str:
    cost = report.cost
    fewest, most = (_duration(cost.epoch_seconds * epochs) for epochs in cost.epochs)
    free = "" if isnan(cost.free_megabytes) else f", {round(cost.free_megabytes)} MB are free"
    memory = f"{max(1, round(cost.megabytes))} MB of memory{free}"
    epochs = f"{cost.epochs[0]} to {cost.epochs[1]} epochs"
    whole = f"training: about {fewest} to {most} ({epochs}), a search up to ten times as long; {memory}"
    return f"{whole}{_of_batches(cost)}"


def _of_batches(cost: "Cost") -> str:
    """Where training on the full batch takes most of the memory."""
    if cost.batches is None or not cost.is_in_batches:
        return ""
    batches = cost.batches
    fewest, most = (_duration(batches.epoch_seconds * epochs) for epochs in cost.epochs)
    return (
        f"\nso it is trained in batches of {batches.targets} target nodes: {_duration(batches.filter_seconds)} for the"
        f" filter, then about {fewest} to {most}; {max(1, round(batches.megabytes))} MB of memory"
    )


def _duration(seconds: float) -> str:
    return f"{max(1, round(seconds))} s" if seconds < 120 else f"{round(seconds / 60)} min"


def _finding(finding: "Finding") -> list[str]:
    more = ", ..." if finding.count > len(finding.first) else ""
    where = [f"  where: {', '.join(finding.first)}{more}"] if finding.first else []
    return [f"{finding.level}: {finding.what}", *where, f"  why: {finding.why}", f"  what to do: {finding.advice}"]


def _summary(report: "Report") -> str:
    levels: list[str] = [finding.level for finding in report.findings]
    names = {"serious": "serious problem", "warning": "warning", "note": "note"}
    return ", ".join(several(levels.count(level), name) for level, name in names.items())
