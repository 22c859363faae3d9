"""``ncgnn predict``: classes for the nodes of a graph, with the user's own ids."""

import json
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ncgnn.cli import graph as g
from ncgnn.errors import InputError

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from ncgnn.train import NCGNNClassifier

Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model.safetensors file or the run folder it is in.")]
Out = Annotated[Path | None, typer.Option(help="File for the table; default: standard output.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON object a line instead of CSV.")]


def predict(
    model: Model,
    graph: g.Graph = None,
    nodes: g.Nodes = None,
    edges: g.Edges = None,
    id: g.Id = None,
    label: g.Label = None,
    source: g.Source = None,
    target: g.Target = None,
    weight: g.Weight = None,
    data: g.DataFolder = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Predict the class of every node of a graph with a trained model, without training again.

    The graph may contain nodes that the model never saw. Tables are read as those the model was trained on: the same
    columns, the same categories. The result has a row for each node: id, known label, predicted class, probability,
    margin to the second class.

    Example: `ncgnn predict runs/karate karate`

    Example: `ncgnn predict runs/topics --nodes nodes.csv --edges edges.csv --out predictions.csv`
    """
    from ncgnn.files import atomic
    from ncgnn.train import NCGNNClassifier
    from ncgnn.train.folder import prediction_table

    classifier = NCGNNClassifier.load(model / "model.safetensors" if model.is_dir() else model)
    tables = g.Tables(nodes, edges, id, label, source, target, weight)
    found = model_graph(classifier, graph, tables, data)
    table = prediction_table(classifier, found, classifier.decision_function(found))
    with nullcontext(sys.stdout) if out is None else atomic(out) as file:
        if as_json:
            file.writelines(json.dumps(row) + "\n" for row in table.to_dict("records"))
        else:
            table.to_csv(file, index=False, lineterminator="\n")


def model_graph(classifier: "NCGNNClassifier", graph: str | None, tables: g.Tables, folder: Path | None) -> "Data":
    """The graph that the arguments name, read as the model's own tables were."""
    if not tables.given:
        return g.find_graph(graph, tables, folder)
    if graph is not None:
        raise InputError("name one graph: a known name, an .npz file, or both --nodes and --edges")
    if classifier.encoding_ is None:
        raise InputError("the model was not trained on tables, so it cannot read any: give a graph name or .npz file")
    return tables.read(encoding=classifier.encoding_, class_names=classifier.classes_.astype(str).tolist())
