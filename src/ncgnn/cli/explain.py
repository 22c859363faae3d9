"""``ncgnn explain``: explain predictions, in text, as a table or as a page to pass on."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from functools import partial
from io import BytesIO
from itertools import chain, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from ncgnn.cli import graph as g
from ncgnn.cli.evaluate import SAMPLE, check_evaluate, run_evaluation
from ncgnn.cli.model import Model, ModelClass, load_run, model_files, with_split
from ncgnn.cli.output import Overwrite, check_output, output_option
from ncgnn.cli.progress import refuse
from ncgnn.cli.remembered import key_of, with_run
from ncgnn.cli.shared import write_shared
from ncgnn.cli.spreadsheet import note_formulas
from ncgnn.errors import InputError
from ncgnn.text import several

if TYPE_CHECKING:
    from torch import Tensor

    from ncgnn.explain import GraphExplainer, NodeExplanation
    from ncgnn.page import Measured
    from ncgnn.parts import Piece

TOP = 16
"""Neighbours and features that are named by default."""

PART = 4096
"""Nodes in a part of a table."""

Node = Annotated[
    list[str] | None,
    typer.Option(help="Node id. Repeatable; default with --out, --page or --json: all nodes."),
]
Class = Annotated[str | None, typer.Option("--class", help="Class to explain; default: the predicted class.")]
Against = Annotated[
    str | None, typer.Option(help="Contrast with another class: a class name, runner-up, or others (their mean).")
]
Features = Annotated[bool, typer.Option("--features", help="Also compute feature contributions (slower).")]
Top = Annotated[int | None, typer.Option(min=1, help=f"Number of neighbours and features to list; default: {TOP}.")]
Out = Annotated[Path | None, output_option("Write a table to this file (.csv or .parquet).")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON Lines, one object per node.")]
Evaluate = Annotated[bool, typer.Option("--evaluate", help="Audit the explanations, and compare with other methods.")]
Sample = Annotated[int | None, typer.Option(min=1, help=f"With --evaluate: number of nodes; default: {SAMPLE}.")]
WhatIf = Annotated[bool, typer.Option("--what-if", help="Also say what would change the class.")]
Page = Annotated[Path | None, output_option("Write a self-contained HTML page.")]


@g.takes_graph
def explain(
    model: Model,
    graph: g.GraphOptions,
    node: Node = None,
    class_name: Class = None,
    against: Against = None,
    features: Features = False,
    what_if: WhatIf = False,
    top: Top = None,
    out: Out = None,
    as_json: Json = False,
    page: Page = None,
    overwrite: Overwrite = False,
    evaluate: Evaluate = False,
    sample: Sample = None,
    model_class: ModelClass = None,
) -> None:
    """Explain predictions: why, in a sentence, what would change it, and how much each part contributes to the score.

    Contributions are exact and add up to the score. With --what-if, also finds the fewest nodes to ignore, links to cut
    or features to remove that change the class, confirmed by full forward passes. Prints explanations for the nodes
    given with --node. With --out, writes them (all nodes if --node is omitted) to a table with columns id, class, kind,
    name, title and contribution.

    Example: `ncgnn explain runs/karate --node 0 --node 33`

    Example: `ncgnn explain runs/karate --node 0 --what-if`

    Example: `ncgnn explain runs/topics --nodes nodes.csv --edges edges.csv --out reasons.parquet`

    Example: `ncgnn explain runs/karate --page report.html`

    Example: `ncgnn explain runs/karate --evaluate --sample 2`
    """
    form = {"--class": class_name, "--against": against, "--features": features, "--top": top, "--json": as_json}
    form["--what-if"] = what_if
    node = list(dict.fromkeys(node)) if node else None  # a node that is named twice is one
    if evaluate or page is not None:
        _check_alone()
    if evaluate:
        check_evaluate(out, form | {"--node": node, "--page": page})
    elif page is not None:
        check_page(page, form | {"--out": out, "--sample": sample})
    else:
        _check(node, out, as_json, sample)
        if out is not None:
            refuse({"--what-if": what_if}, "--what-if takes several forward passes a node: give --node instead")
    graph = with_run(graph, model)
    for place in (out, page):
        if place is not None:
            check_output(place, overwrite, chain(model_files(model, model_class), graph.files))
    from ncgnn.explain import GraphExplainer
    from ncgnn.explain.explainer import node_numbers

    classifier, split = load_run(model, model_class)
    if not classifier.definition.has_reasons:
        raise InputError(f"{classifier.definition.title} cannot be explained: train NCGNN for explained predictions")
    found = graph.find_for(classifier)
    found = with_split(found, split)
    if evaluate or page is not None:
        whole = GraphExplainer(classifier.scored(found, whole=True))
        if page is not None:
            make_page(page, whole, node, model)
        else:
            run_evaluation(whole, sample or SAMPLE, out)
        return
    explainer = classifier.explainer(found)
    numbers = node_numbers(explainer.names, node)
    explain = partial(explainer.explain, against=against, features=features, top=top or TOP, target=class_name)
    if out is None:
        _show(explain(numbers), as_json, what_if)
        if not as_json:
            print(explainer.selection)  # below the details
    else:
        if out.suffix == ".csv":
            note_formulas([*explainer.names.nodes, *explainer.names.classes])
        asked = [node, class_name, against, features, top]
        _write(out, partial(key_of, out, model, model_class, graph, asked), explain, numbers)


def _check_alone() -> None:
    from ncgnn.train.processes import is_shared

    if is_shared():
        raise InputError("--page and --evaluate run in a single process: start them without torchrun")


def _check(node: list[str] | None, out: Path | None, as_json: bool, sample: int | None) -> None:
    from ncgnn.explain.table import check_format

    refuse({"--sample": sample}, "--sample only applies to --evaluate")
    if out is not None and as_json:
        raise InputError("--json and --out are mutually exclusive")
    if out is not None:
        check_format(out)
    elif not node and not as_json:
        raise InputError("choose nodes with --node ID, or write all of them to a table with --out FILE.csv")


def _write(
    out: Path,
    key: Callable[[], str],
    explain: "Callable[[Tensor], Iterator[NodeExplanation]]",
    numbers: "Tensor",
) -> None:
    """A table in parts: a command that is killed goes on after its last part. Several processes share the parts out."""
    import torch

    from ncgnn.cli.progress import track
    from ncgnn.explain.table import write_part
    from ncgnn.train.processes import collected, rank, world

    total = len(numbers)

    def parts(first: int) -> "Iterator[Piece]":
        starts = list(range(first, total, PART))
        own = torch.cat([numbers[:0], *(numbers[start : start + PART] for start in starts[rank() :: world()])])
        rest = iter(track(explain(own), "explaining", len(own)))
        for place in range(0, len(starts), world()):
            together, made = starts[place : place + world()], BytesIO()
            if rank() < len(together):
                write_part(islice(rest, PART), out.suffix, together[rank()] == 0, made)
            for start, content in zip(together, collected(made.getvalue()), strict=False):
                yield start, min(start + PART, total), partial(_put, content)

    write_shared(out, key, total, parts, PART)
    print(f"{out}: explanations of {several(total, 'node')}")


def _put(content: bytes, file: IO[bytes]) -> None:
    file.write(content)


def _show(explanations: "Iterable[NodeExplanation]", as_json: bool, what_if: bool) -> None:
    from ncgnn.explain.counterfactual import what_would_change
    from ncgnn.explain.text import bars

    for explanation in explanations:
        changes = what_would_change(explanation) if what_if else []
        if as_json:
            more = {"what_if": [asdict(change) for change in changes]} if what_if else {}
            print(json.dumps(explanation.to_dict() | more))
        else:
            print(f"{bars(explanation, [change.sentence for change in changes])}\n")


def check_page(page: Path, others: Mapping[str, object]) -> None:
    """Whether it is called a page, and whether options were given that it has no use for."""
    if page.suffix not in (".html", ".htm"):
        example = page.parent / f"{page.stem.strip('.') or 'page'}.html"
        raise InputError(f"{page}: a page is an HTML file, e.g. {example}")
    refuse(others, "--page always explains the predicted class in a fixed layout")


def make_page(page: Path, explainer: "GraphExplainer", nodes: list[str] | None, model: Path) -> None:
    """Write the page of a model and its graph, and say where it is."""
    from ncgnn.cli.progress import track
    from ncgnn.page import write_page

    with g.notices():
        write_page(page, explainer, nodes, lambda views, total: track(views, "explaining", total), _measured(model))
    print(f"{page}: {page.stat().st_size / 1e6:.1f} MB; open it in a browser")


def _measured(model: Path) -> "Measured | None":
    """The accuracy that the run states, if its last training was on all labels."""
    from ncgnn.classifier.run_folder import read_description, run_of
    from ncgnn.page import Measured

    match read_description(run_of(model)):
        case {"refit": {}, "metrics": {"test_accuracy": float(accuracy)}, "split": {"test": int(nodes)}}:
            return Measured(accuracy, nodes)
    return None
