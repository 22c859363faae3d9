"""The report of a run: accuracy, errors, what matters, next steps."""

from collections.abc import Callable, Sequence
from pathlib import Path

from ncgnn.classifier import NodeClassifier
from ncgnn.classifier.estimator import check_trained_here
from ncgnn.compare import Compared, judge
from ncgnn.explain import GraphExplainer, is_explained
from ncgnn.files import atomic
from ncgnn.models.base.model import USES
from ncgnn.report.copies import copies
from ncgnn.report.matters import matters
from ncgnn.report.quality import quality
from ncgnn.report.text import details, how_good, table, what_matters, what_next, where_it_fails
from ncgnn.scored import Scored


def report(
    classifier: NodeClassifier,
    scored: Scored,
    rows: Sequence[Compared] = (),
    advice: Sequence[str] = (),
    how: Callable[[str], str] = lambda option: "",
    chosen: Sequence[str] = (),
    is_searched: bool = False,
) -> str:
    """The report as Markdown.

    Args:
        classifier: the trained model.
        scored: its scores for the graph it was trained on.
        rows: of a comparison, if there was one.
        advice: further lines on what to do next.
        how: what to add to the advice to change an option.
        chosen: lines on how the model was chosen and trained.
        is_searched: whether its settings are those of a search.
    """
    from ncgnn.explain.quality.passing import audit_of  # with PyG's explainers, which take long to import

    check_trained_here(classifier)
    found = quality(scored.data, scored.predicted)
    may_train_longer = is_cut(classifier) and not is_searched  # a search limits the epochs on purpose
    calibrated = classifier.calibration_ is not None
    reasons = matters(scored)
    next_steps = [*what_next(found, calibrated, bool(rows), may_train_longer, how), *advice]
    sections = {
        "How good": how_good(found, copies(scored.data, scored.predicted)),
        "Where it fails": where_it_fails(found),
        "What matters": what_matters(reasons),
        **({"How far to trust the reasons": [audit_of(GraphExplainer(scored)).short]} if is_audited(scored) else {}),
        **({"How it was chosen": list(chosen)} if chosen else {}),
        **({"Compared with simpler models": comparison(rows)} if rows else {}),
        **({"Details": details(reasons.hops)} if reasons is not None and reasons.hops is not None else {}),
        "Next steps": next_steps,
    }
    return "\n".join(line for title, lines in sections.items() for line in (f"## {title}", "", *lines, ""))


_MOST_NODES = 50_000
"""Nodes of a graph whose reasons are audited in passing."""


def is_audited(scored: Scored) -> bool:
    return is_explained(scored) and len(scored.scores) <= _MOST_NODES


def is_cut(classifier: NodeClassifier) -> bool:
    """Whether training ended at the last epoch allowed while it was still improving."""
    last, settings = classifier.history_[-1].epoch, classifier.config_.model_dump()
    left = settings.get("patience", 0) - (last - classifier.best_.epoch)
    return bool(last == settings.get("epochs") and left > 0)


def comparison(rows: Sequence[Compared]) -> list[str]:
    """The table of a comparison, and its verdict."""
    head = ["model", "uses", "validation", "test", "seconds"]
    cells = [
        [row.model, USES[row.knows], f"{row.val_accuracy:.1%}", _percent(row.test_accuracy), f"{row.seconds:.1f}"]
        for row in rows
    ]
    return [*table(head, cells), "", f"Verdict: {judge(rows).text}."]


def write_report(folder: Path, title: str, text: str) -> None:
    """Write ``report.md`` into a run folder."""
    with atomic(folder / "report.md") as file:
        file.write(f"# {title}\n\n{text}")


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"
