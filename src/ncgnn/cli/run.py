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

    from ncgnn.classifier import NCGNNClassifier
    from ncgnn.compare import Row
    from ncgnn.models.ncgnn.config import Config
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
    rows: "list[Row]"


def run_split(
    data: "Data", number: int, config: "Config", folder: Path, graph: g.GraphOptions, extras: Extras
) -> Outcome:
    """Train on one split and write the run folder."""
    from ncgnn.classifier.run_folder import write_description, write_run

    title = f"{data.name} split {number}"
    classifier = _train(data, config, title, folder / "tensorboard" if extras.tensorboard else None)
    run = write_run(folder, classifier, data, number, sys.argv[1:])
    rows: list[Row] = []
    text = _report(folder, title, classifier, data, graph, rows)
    if extras.picture:
        _draw(folder, classifier, data)
    if extras.compare:  # last: what ends it, a fault or Ctrl-C, must not cost the model
        rows = _compare(data, classifier, config.seed)
        run |= {"comparison": _comparison(rows)}
        write_description(folder, run)
        text = _report(folder, title, classifier, data, graph, rows)
    return Outcome(folder, run, text, rows)


def _train(data: "Data", config: "Config", title: str, log: Path | None) -> "NCGNNClassifier":
    from ncgnn.classifier.estimator import NCGNNClassifier
    from ncgnn.cli.progress import epochs
    from ncgnn.train.tensorboard import tensorboard

    with ExitStack() as stack:
        listeners = [stack.enter_context(epochs(title, config.epochs))]
        if log is not None:
            listeners.append(stack.enter_context(tensorboard(log)))

        def tell(epoch: "Epoch") -> None:
            for listener in listeners:
                listener(epoch)

        return NCGNNClassifier.from_config(config).fit(data, tell)


def _report(
    folder: Path, title: str, classifier: "NCGNNClassifier", data: "Data", graph: g.GraphOptions, rows: "list[Row]"
) -> str:
    from ncgnn.report import report, write_report

    is_explained = not classifier.config_.hidden
    advice = [f"- Explain every node on one page: `{_page(folder, graph)}`"] if is_explained else []
    text = report(classifier, data, rows, advice, lambda option: f" (`{flag(option)}`)")
    write_report(folder, title, text)
    return text


def _compare(data: "Data", classifier: "NCGNNClassifier", seed: int) -> "list[Row]":
    from ncgnn.cli.progress import track
    from ncgnn.compare import RIVALS, compare

    return list(track(compare(data, classifier, seed, RIVALS), "simpler models", 1 + len(RIVALS)))


def _comparison(rows: "list[Row]") -> dict[str, Any]:
    from ncgnn.compare import judge

    verdict = judge(rows)
    return {"rows": [asdict(row) for row in rows], "use": verdict.use, "verdict": verdict.text}


def _page(folder: Path, graph: g.GraphOptions) -> str:
    """The command that writes the page of the run."""
    return shlex.join(["ncgnn", "explain", str(folder), *graph.again, "--page", str(folder / "page.html")])


def _draw(folder: Path, classifier: "NCGNNClassifier", data: "Data") -> None:
    from ncgnn.report.picture import draw_capsules

    with g.notices():
        draw_capsules(folder / "capsules.png", classifier, data)
