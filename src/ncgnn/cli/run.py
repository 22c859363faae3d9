"""One run of ``ncgnn train``: training, and what else was asked for, into one folder."""

import shlex
import sys
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ncgnn.cli import graph as g
from ncgnn.cli.flags import flag

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from ncgnn.classifier import NodeClassifier
    from ncgnn.compare import Compared
    from ncgnn.models import PreparedGraph, RunSettings
    from ncgnn.scored import Scored
    from ncgnn.train import Epoch


@dataclass(frozen=True)
class Extras:
    """What is to be done besides training."""

    picture: bool
    compare: bool
    tensorboard: bool


@dataclass(frozen=True)
class Outcome:
    """A finished run: where it is, the contents of its ``run.json``, its report, and the rows of a comparison."""

    folder: Path
    run: dict[str, Any]
    report: str
    rows: "list[Compared]"


def run_split(
    data: "Data", number: int, model: str, settings: "RunSettings", folder: Path, graph: g.GraphOptions, extras: Extras
) -> Outcome:
    """Train on one split of a complete graph and write the run folder."""
    from ncgnn.classifier import NodeClassifier
    from ncgnn.classifier.run_folder import write_description, write_run
    from ncgnn.models import PreparedGraph

    title = f"{data.name} split {number}"
    prepared, classifier = PreparedGraph.of_complete(data), NodeClassifier(model, settings)
    scored = _train(prepared, classifier, title, folder / "tensorboard" if extras.tensorboard else None)
    run = write_run(folder, classifier, scored, number, sys.argv[1:])
    rows: list[Compared] = []
    text = _report(folder, title, classifier, scored, graph, rows)
    if extras.picture:
        _draw(folder, scored)
    if extras.compare:  # last: what ends it, a fault or Ctrl-C, must not cost the model
        rows = _compare(prepared, classifier, scored)
        run |= {"comparison": _comparison(rows)}
        write_description(folder, run)
        text = _report(folder, title, classifier, scored, graph, rows)
    return Outcome(folder, run, text, rows)


def _train(prepared: "PreparedGraph", classifier: "NodeClassifier", title: str, log: Path | None) -> "Scored":
    from ncgnn.cli.progress import epochs
    from ncgnn.train.tensorboard import tensorboard

    with ExitStack() as stack:
        listeners = [stack.enter_context(epochs(title, getattr(classifier.config, "epochs", 1)))]
        if log is not None:
            listeners.append(stack.enter_context(tensorboard(log)))

        def tell(epoch: "Epoch") -> None:
            for listener in listeners:
                listener(epoch)

        return classifier.fit_scored(prepared, tell)


def _report(
    folder: Path,
    title: str,
    classifier: "NodeClassifier",
    scored: "Scored",
    graph: g.GraphOptions,
    rows: "list[Compared]",
) -> str:
    from ncgnn.explain import is_explained
    from ncgnn.report import report, write_report

    advice = (
        [f"- Explain every node on one page: `{_page(folder, graph, classifier.model)}`"]
        if is_explained(scored)
        else []
    )
    text = report(classifier, scored, rows, advice, lambda option: f" (`{flag(option)}`)")
    write_report(folder, title, text)
    return text


def _compare(prepared: "PreparedGraph", classifier: "NodeClassifier", scored: "Scored") -> "list[Compared]":
    from ncgnn.cli.progress import track
    from ncgnn.compare import compare, rivals

    others = rivals(classifier.model)
    rows = compare(prepared, classifier.definition, scored, classifier.seconds_, others, classifier.config_.seed)
    return list(track(rows, "simpler models", 1 + len(others)))


def _comparison(rows: "list[Compared]") -> dict[str, Any]:
    from ncgnn.compare import judge

    verdict = judge(rows)
    return {"rows": [asdict(row) for row in rows], "use": verdict.use, "verdict": verdict.text}


def _page(folder: Path, graph: g.GraphOptions, model: str) -> str:
    """The command that writes the page of the run."""
    from ncgnn.models import reference

    own = ["--model-class", reference(model)] if ":" in reference(model) else []
    return shlex.join(["ncgnn", "explain", str(folder), *graph.again, *own, "--page", str(folder / "page.html")])


def _draw(folder: Path, scored: "Scored") -> None:
    from ncgnn.report.picture import draw_capsules

    with g.notices():
        draw_capsules(folder / "capsules.png", scored)
