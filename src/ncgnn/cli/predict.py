"""``ncgnn predict``: predict the classes of a graph's nodes."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from ncgnn.cli import graph as g
from ncgnn.cli.model import Model, ModelClass, load_model, model_files
from ncgnn.cli.notes import note
from ncgnn.cli.output import Overwrite, check_output, output_option
from ncgnn.cli.remembered import key_of, with_run
from ncgnn.cli.shared import write_shared
from ncgnn.cli.spreadsheet import note_formulas
from ncgnn.errors import InputError

if TYPE_CHECKING:
    from pandas import DataFrame

    from ncgnn.classifier import NodeClassifier
    from ncgnn.scored import Scored

Coverage = Annotated[
    float | None,
    typer.Option(metavar="FRACTION", help="Also output a prediction set with this coverage, e.g. 0.9."),
]
ClassCoverage = Annotated[
    float | None,
    typer.Option(metavar="FRACTION", help="Also output a prediction set with this coverage in every class."),
]
MinConfidence = Annotated[
    float | None,
    typer.Option(min=0, max=1, metavar="PROBABILITY", help="Leave the class blank below this probability."),
]
Probabilities = Annotated[bool, typer.Option("--probabilities", help="Also output the probability of every class.")]
Out = Annotated[Path | None, output_option("Output file, .parquet for Parquet; default: standard output.")]
Json = Annotated[bool, typer.Option("--json", help="Write JSON Lines instead of CSV.")]


@g.takes_graph
def predict(
    model: Model,
    graph: g.GraphOptions,
    coverage: Coverage = None,
    class_coverage: ClassCoverage = None,
    min_confidence: MinConfidence = None,
    probabilities: Probabilities = False,
    out: Out = None,
    overwrite: Overwrite = False,
    as_json: Json = False,
    model_class: ModelClass = None,
) -> None:
    """Predict the class of every node with a trained model, without retraining.

    Without GRAPH, predicts for the graph it was trained on. Another graph may contain nodes the model has not seen. Its
    tables are read as in training: same columns, same categories.
    The output has one row per node: id, known label, predicted class, probability, margin over the runner-up;
    --coverage and --class-coverage add a prediction set, --probabilities one column per class.

    Example: `ncgnn predict runs/karate`

    Example: `ncgnn predict runs/topics --nodes nodes.csv --edges edges.csv --out predictions.csv`
    """
    from ncgnn.files import PARQUET
    from ncgnn.parts import ROWS

    graph = with_run(graph, model)
    if out is not None:
        check_output(out, overwrite, chain(model_files(model, model_class), graph.files))
    classifier = load_model(model, model_class)
    _check_asked(classifier, coverage, class_coverage, min_confidence)
    data = graph.find_for(classifier)
    asked = Asked(coverage, class_coverage, min_confidence, probabilities)
    form = "json" if as_json else "parquet" if out is not None and out.suffix.lower() in PARQUET else "csv"
    told = Told()

    def parts(first: int) -> Iterator[tuple[int, int, Callable[[IO[bytes]], None]]]:
        start = first
        for scored in classifier.scored_parts(data, ROWS, first):
            table = asked.table(scored)
            told.take(table)
            yield start, start + len(table), partial(_write, table, form, start == 0)
            start += len(table)

    total = int(data.num_nodes or 0)
    if out is None:
        for _, _, write in parts(0):
            write(sys.stdout.buffer)
    else:
        key = partial(key_of, out, model, model_class, graph, [asked, form])
        write_shared(out, key, total, parts, ROWS)
    told.say(classifier, asked, total)
    if form == "csv":
        note_formulas([*data.get("node_ids", ()), *classifier.classes_.astype(str)])


class Asked(NamedTuple):
    """What the table is to have beside the class of each node."""

    coverage: float | None
    class_coverage: float | None
    min_confidence: float | None
    probabilities: bool

    def table(self, scored: "Scored") -> "DataFrame":
        """A row for each node."""
        found = _table(scored, self.coverage, self.class_coverage, self.probabilities)
        if self.min_confidence is not None:
            found["predicted"] = found["predicted"].mask(found["probability"] < self.min_confidence, "")
        return found


def _check_asked(
    classifier: "NodeClassifier", coverage: float | None, class_coverage: float | None, min_confidence: float | None
) -> None:
    """Whether the model can give what is asked; tables may take long to read."""
    if min_confidence is not None and classifier.calibration_ is None:
        raise InputError("--min-confidence: the model is not calibrated: train it with --calibrate 0.5")
    if coverage is not None:
        classifier.check_coverage(coverage)
    if class_coverage is not None:
        classifier.check_coverage(class_coverage, by_class=True)


def _table(scored: "Scored", coverage: float | None, class_coverage: float | None, probabilities: bool) -> "DataFrame":
    import pandas as pd

    from ncgnn.classifier.run_folder import named_sets, prediction_table

    table = prediction_table(scored, coverage)
    table = table.drop(columns="split", errors="ignore")  # that of the file need not be the one it was trained on
    if class_coverage is not None:
        table["class_set"] = pd.Series(named_sets(scored, class_coverage, by_class=True), dtype=object)
    if probabilities:
        shares = scored.probabilities.double().numpy().round(6).tolist()
        each = [dict(zip(scored.classes, row, strict=True)) for row in shares]
        table["probabilities"] = pd.Series(each, dtype=object)
    return table


class Told:
    """What is said at the end, gathered part by part."""

    def __init__(self) -> None:
        self.rows = self.blank = 0

    def take(self, table: "DataFrame") -> None:
        self.rows, self.blank = self.rows + len(table), self.blank + int((table["predicted"] == "").sum())

    def say(self, classifier: "NodeClassifier", asked: Asked, total: int) -> None:
        if classifier.calibration_ is None:
            note("probabilities are uncalibrated; use them for ranking only")
        if asked.min_confidence is not None:
            last = "" if self.rows == total else "the last "  # an earlier command finished those before
            note(f"class left blank for {self.blank} of {last}{self.rows} nodes")
        _note_classes(classifier, asked.class_coverage)


def _note_classes(classifier: "NodeClassifier", class_coverage: float | None) -> None:
    """Name the classes that are in every set."""
    if class_coverage is None or classifier.calibration_ is None:
        return
    names = classifier.classes_.astype(str)
    always = [names[one] for one in classifier.calibration_.classes_without_limit(len(names), class_coverage)]
    if always:
        note(
            f"too few calibration nodes for a coverage of {class_coverage} of these classes, which are in every"
            f" class_set: {', '.join(always)}"
        )


def _write(table: "DataFrame", form: str, is_first: bool, file: IO[bytes]) -> None:
    """Write a part of the table; only the first one has a heading."""
    if form == "json":
        file.writelines(f"{json.dumps(_plain(row))}\n".encode() for row in table.to_dict("records"))
    elif form == "csv":
        file.write(_flat(table).to_csv(index=False, header=is_first, lineterminator="\n").encode())
    else:
        _flat(table).to_parquet(file, index=False)


def _plain(row: Mapping[Any, Any]) -> dict[Any, Any]:
    """What JSON has for a label that is not known and a class that is not predicted."""
    return {key: None if value == "" else value for key, value in row.items()}


def _flat(table: "DataFrame") -> "DataFrame":
    """The table with its sets as text, as in ``a|b``, and a column for the probability of each class."""
    import pandas as pd

    for column in ("set", "class_set"):
        if column in table:
            table = table.assign(**{column: ["|".join(names) for names in table[column]]})
    if "probabilities" in table:
        each = pd.DataFrame(table["probabilities"].tolist()).add_prefix("probability:")
        table = pd.concat([table.drop(columns="probabilities"), each], axis=1)
    return table
