"""``ncgnn explain``: why nodes are predicted as they are."""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ncgnn.cli import graph as g
from ncgnn.cli.evaluate import SAMPLE, check_evaluate, run_evaluation
from ncgnn.cli.model import Model, load_model
from ncgnn.cli.page import check_page, make_page
from ncgnn.cli.terminal import refuse
from ncgnn.errors import InputError
from ncgnn.wording import several

if TYPE_CHECKING:
    from ncgnn.explain import NodeExplanation

TOP = 16
"""Neighbours and features that are named by default."""

Node = Annotated[list[str] | None, typer.Option(help="Id of a node; may be repeated. Default: all nodes.")]
Class = Annotated[str | None, typer.Option("--class", help="Class to explain; default: the predicted one.")]
Against = Annotated[str | None, typer.Option(help="Class to compare with, runner-up, or others.")]
Features = Annotated[bool, typer.Option("--features", help="Split by feature too, which takes longer.")]
Top = Annotated[int | None, typer.Option(min=1, help=f"How many neighbours and features are named; default: {TOP}.")]
Out = Annotated[Path | None, typer.Option(help="Table to write: FILE.csv or FILE.parquet.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON object a node and line instead of text.")]
Evaluate = Annotated[bool, typer.Option("--evaluate", help="Compare explanations with those of other methods.")]
Sample = Annotated[int | None, typer.Option(min=1, help=f"With --evaluate: how many nodes; default: {SAMPLE}.")]
Page = Annotated[Path | None, typer.Option(help="Page to write: one HTML file that opens offline.")]


@g.takes_graph
def explain(
    model: Model,
    graph: g.GraphOptions,
    node: Node = None,
    class_name: Class = None,
    against: Against = None,
    features: Features = False,
    top: Top = None,
    out: Out = None,
    as_json: Json = False,
    page: Page = None,
    evaluate: Evaluate = False,
    sample: Sample = None,
) -> None:
    """Explain predictions of a trained model: how much of a score comes from which hop, neighbour, capsule and feature.

    The parts are the model's own numbers and add up to the score. Given nodes are explained on the screen; with
    --out, these or all nodes become a table with the columns id, class, kind, name, title and contribution.

    Example: `ncgnn explain runs/karate karate --node 0 --node 33`

    Example: `ncgnn explain runs/topics --nodes nodes.csv --edges edges.csv --out reasons.parquet`

    Example: `ncgnn explain runs/karate karate --page report.html`

    Example: `ncgnn explain runs/karate karate --evaluate --sample 2`
    """
    form = {"--class": class_name, "--against": against, "--features": features, "--top": top, "--json": as_json}
    node = list(dict.fromkeys(node)) if node else None  # a node that is named twice is one
    if evaluate:
        check_evaluate(out, form | {"--node": node, "--page": page})
    elif page is not None:
        check_page(page, form | {"--out": out, "--sample": sample})
    else:
        _check(node, out, as_json, sample)
    from ncgnn.explain import GraphExplainer
    from ncgnn.train.split_of_run import with_split_of_run

    classifier = load_model(model)
    found = graph.find_for(classifier)
    if evaluate:
        run_evaluation(classifier, found, model, sample or SAMPLE, out)
        return
    if page is not None:
        make_page(page, classifier, found, model, node)
        return
    explainer = GraphExplainer(classifier, with_split_of_run(found, model))
    explanations = explainer.explain(node, against, features, top or TOP, class_name)
    _show(explanations, out, as_json, len(node) if node else found.num_nodes)
    print(explainer.selection, file=sys.stderr if as_json else sys.stdout)


def _check(node: list[str] | None, out: Path | None, as_json: bool, sample: int | None) -> None:
    from ncgnn.explain.table import check_format

    refuse({"--sample": sample}, "--sample says how many nodes --evaluate draws")
    if out is not None and as_json:
        raise InputError("--json prints and --out writes a table: keep one")
    if out is not None:
        check_format(out)
    elif not node and not as_json:
        raise InputError("explaining all nodes makes a long table: give --out FILE.csv, or nodes with --node ID")


def _show(explanations: "Iterable[NodeExplanation]", out: Path | None, as_json: bool, total: int) -> None:
    from ncgnn.cli.progress import track
    from ncgnn.explain.table import write_table
    from ncgnn.explain.text import bars

    if out is not None:
        write_table(out, track(explanations, "explaining", total))
        print(f"{out}: the reasons of {several(total, 'node')}")
        return
    for explanation in explanations:
        print(json.dumps(explanation.to_dict()) if as_json else f"{bars(explanation)}\n")
