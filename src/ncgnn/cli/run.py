"""One run of ``ncgnn train``: training, and what else was asked for, into one folder."""

import shlex
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from ncgnn.cli import graph as g
from ncgnn.cli.flags import flag
from ncgnn.cli.notes import note
from ncgnn.cli.remembered import KEY, source
from ncgnn.cli.told import after_refit, brevity, description, summary, write_search
from ncgnn.text import several

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from ncgnn.classifier import NodeClassifier
    from ncgnn.compare import Compared
    from ncgnn.models import Model, PreparedGraph, RunSettings
    from ncgnn.scored import Scored
    from ncgnn.search import Found
    from ncgnn.train import Epoch


CHECKPOINT = "checkpoint"
"""The folder of unfinished trainings, inside that of the run."""


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


@dataclass(frozen=True)
class Plan:
    """How a run is trained.

    Attributes:
        model: what to train.
        settings: where nothing is searched.
        search: ``none``, ``quick`` or ``thorough``.
        minutes: time limit of the search.
        refit: whether the final model is trained on all labels.
        batch: why it is trained on the full batch or in batches.
    """

    model: "Model[Any]"
    settings: "RunSettings"
    search: str
    minutes: float | None
    refit: bool
    batch: str = ""


def run_split(
    data: "Data", number: int, plan: Plan, folder: Path, graph: g.GraphOptions, extras: Extras
) -> Outcome | None:
    """Train on one split of a complete graph and write the run folder; of several processes, the first one does."""
    from ncgnn.classifier import NodeClassifier
    from ncgnn.classifier.run_folder import RUN_FILES, run_description, write_description, write_files
    from ncgnn.models import PreparedGraph
    from ncgnn.report import write_report
    from ncgnn.together import together
    from ncgnn.train.processes import alone, rank

    title = f"{data.name} split {number}"
    prepared, classifier = PreparedGraph.of_complete(data), NodeClassifier(plan.model.name, plan.settings)
    rows: list[Compared] = []
    told: list[str] = []
    found = None
    read = source(graph, folder)  # the files as they were before the training
    with _continued(data, plan, folder / CHECKPOINT):
        if plan.search == "none":
            scored = _train(
                prepared, classifier, title, folder / "tensorboard" if extras.tensorboard and not rank() else None
            )
        else:
            found, scored = _search(prepared, classifier, plan, title, folder)
            rows, told = _of_rivals(prepared, classifier, scored, found), summary(found)
        final = _refit(prepared, classifier, scored, found, title) if plan.refit else None
    if final is not None:
        scored = replace(scored, calibration=final.calibration)
        told += after_refit(scored, final)
    if rank() > 0:  # the first process writes
        return None
    with alone():
        run = run_description(classifier, scored, number, sys.argv[1:], final) | {KEY: read} | _more(found, plan, rows)
        page, is_searched = _page(folder, classifier.model), found is not None
        brief = [] if found is None else brevity(found)
        text = _report(page, classifier, scored, rows, told + brief, is_searched)
        with together(folder, (*RUN_FILES, CHECKPOINT, *["search"] * is_searched)) as stage:
            write_files(stage, run, classifier, final or scored)
            write_report(stage, title, text)
            if found is not None:
                write_search(stage, found)
        if extras.picture:  # from here on, what ends it, a fault or Ctrl-C, does not cost the model
            with together(folder) as stage:
                _draw(stage, final or scored)
        if extras.compare:
            rows = _compare(prepared, classifier, scored)
            run, text = run | _more(found, plan, rows), _report(page, classifier, scored, rows, told, is_searched)
            with together(folder) as stage:
                write_description(stage, run)
                write_report(stage, title, text)
        return Outcome(folder, run, text, rows)


@contextmanager
def _continued(data: "Data", plan: Plan, folder: Path) -> Iterator[None]:
    """Trainings that continue where they were killed; those of a search are stored by itself, as a whole."""
    from ncgnn.data.fingerprint import fingerprint_with_split
    from ncgnn.provenance import versions
    from ncgnn.train.checkpoint import Checkpoints, checkpointed

    def about() -> list[object]:
        settings = plan.settings.model_dump(mode="json")
        return [versions("ncgnn"), fingerprint_with_split(data), plan.model.name, settings, plan.refit]

    def tell(epoch: int) -> None:
        note(f"an interrupted training continues after epoch {epoch}")

    with checkpointed(Checkpoints(folder, about, tell)) if plan.search == "none" else nullcontext():
        yield


def _search(
    prepared: "PreparedGraph", classifier: "NodeClassifier", plan: Plan, title: str, folder: Path
) -> tuple["Found", "Scored"]:
    """Search for settings; what was trained is kept in the folder until it is done."""
    from ncgnn.cli.progress import steps
    from ncgnn.compare import rivals
    from ncgnn.search import search

    start, seed = perf_counter(), plan.settings.seed
    with steps(title) as watch:
        found = search(
            prepared,
            plan.model,
            plan.search,
            seed,
            rivals(plan.model.name, of_search=True),
            folder / "search",
            plan.minutes,
            lambda what, number, total: watch(number - 1, total, what),
            getattr(plan.settings, "balance", False),
        )
    if found.is_cut:
        note(f"{title}: the time limit ended the search after {several(len(found.tried), 'training')} (--minutes)")
    scored = classifier.take(prepared, found.settings, found.fitted)
    classifier.seconds_ = perf_counter() - start
    return found, scored


def _of_rivals(
    prepared: "PreparedGraph", classifier: "NodeClassifier", scored: "Scored", found: "Found"
) -> "list[Compared]":
    """The comparison with the rivals of a search, which were trained on the same nodes."""
    from ncgnn.compare import compare_results
    from ncgnn.models import find_model

    others = [(find_model(name), one.shares, one.seconds) for name, one in found.rivals.items()]
    return compare_results(prepared.data, classifier.definition, scored, classifier.seconds_, others)


def _refit(
    prepared: "PreparedGraph", classifier: "NodeClassifier", scored: "Scored", found: "Found | None", title: str
) -> "Scored":
    """The final model, trained on all labels and calibrated by cross-validation, and its scores."""
    from ncgnn.cli.progress import status
    from ncgnn.search.refit import cross_calibration, refit

    start = perf_counter() - classifier.seconds_
    model, settings, epochs = classifier.definition, classifier.config_, classifier.best_.epoch
    targets = None if found is None else found.targets
    with status(f"{title}: calibration by cross-validation") as say:
        calibration = classifier.calibration_ or cross_calibration(
            prepared, model, settings, epochs, targets is not None
        )
        say(f"{title}: training on all labels")
        whole, fitted = refit(prepared, model, settings, epochs, targets)
    best, history = classifier.best_, classifier.history_
    final = classifier.take(whole, settings, fitted)
    classifier.calibration_, classifier.best_, classifier.history_ = calibration, best, history
    classifier.seconds_ = perf_counter() - start
    return replace(final, calibration=calibration)


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

        with g.notices():
            return classifier.fit_scored(prepared, tell)


def _report(
    page: str,
    classifier: "NodeClassifier",
    scored: "Scored",
    rows: "list[Compared]",
    told: list[str],
    is_searched: bool,
) -> str:
    from ncgnn.explain import is_explained
    from ncgnn.report import report

    advice = [f"- Explain every node on one page: `{page}`"] if is_explained(scored) else []
    return report(classifier, scored, rows, advice, lambda option: f" (`{flag(option)}`)", told, is_searched)


def _more(found: "Found | None", plan: Plan, rows: "list[Compared]") -> dict[str, Any]:
    """What ``run.json`` has besides, of batches, a search and a comparison."""
    search: dict[str, Any] = {} if found is None else {"search": description(found, plan.search)}
    search |= {"batch": plan.batch} if plan.batch else {}
    return search | ({"comparison": _comparison(rows)} if rows else {})


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


def _page(folder: Path, model: str) -> str:
    """The command that writes the page of the run."""
    from ncgnn.models import reference

    own = ["--model-class", reference(model)] if ":" in reference(model) else []
    return shlex.join(["ncgnn", "explain", str(folder), *own, "--page", str(folder / "page.html")])


def _draw(folder: Path, scored: "Scored") -> None:
    from ncgnn.report.picture import draw_capsules

    with g.notices():
        draw_capsules(folder / "capsules.png", scored)
