"""What a run tells of its search and of its last training on all labels."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ncgnn.scored import Scored
    from ncgnn.search import Found


def summary(found: "Found") -> list[str]:
    """How the model was chosen, in a few lines."""
    tried = [one for one in found.tried if one.step in ("first", "candidates")]
    seconds = sum(one.seconds for one in found.tried)
    lines = [
        f"- Of {len(tried)} settings, **{found.name}** is best on the validation nodes"
        f" ({found.val_accuracy:.1%}); the search took {len(found.tried)} trainings, {seconds:.0f} seconds."
    ]
    if found.teachers:
        lines.append(f"- The model also learned from the predictions of {', '.join(found.teachers)} for all nodes.")
    lines += [f"- {one.name}: {one.note}; not used." for one in tried if one.note]
    return lines


def after_refit(scored: "Scored", final: "Scored") -> list[str]:
    """Which nodes the figures are from, and which the model was trained on."""
    labelled = int(final.data.train_mask.sum())
    judged = "test" if scored.data.test_mask.any() else "validation"
    lines = [
        f"- All figures in this report are of the {judged} nodes, predicted by a model that had not seen their labels."
        f" The model in this folder was then trained on all {labelled} labels."
    ]
    if final.calibration is not None:
        lines.append("- Probabilities are calibrated by cross-validation on the training and validation nodes.")
    return lines


def description(found: "Found", level: str) -> dict[str, Any]:
    """The search for ``run.json``."""
    return {"level": level, "chosen": found.name, "teachers": found.teachers, "trainings": len(found.tried)}


def write_search(folder: Path, found: "Found") -> None:
    """All trainings of a search, as ``search.csv``."""
    import pandas as pd

    from ncgnn.files import atomic

    with atomic(folder / "search.csv") as file:
        pd.DataFrame([asdict(one) for one in found.tried]).to_csv(file, index=False, lineterminator="\n")
