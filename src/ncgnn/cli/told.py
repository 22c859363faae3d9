"""What a run tells of its search and of its last training on all labels."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ncgnn.text import several

if TYPE_CHECKING:
    from ncgnn.scored import Scored
    from ncgnn.search import Found


def summary(found: "Found") -> list[str]:
    """How the model was chosen, in a few lines."""
    tried = [one for one in found.tried if one.step in ("first", "candidates")]
    seconds = sum(one.seconds for one in found.tried)
    best = f"Of {len(tried)} settings, **{found.name}** is best on the validation nodes"
    first = best if len(tried) > 1 else f"Only one setting was tried, **{found.name}**"
    lines = [f"- {first}; the search took {several(len(found.tried), 'training')}, {seconds:.0f} seconds."]
    if found.is_cut:
        lines.append("- The time limit ended the search early: with more `--minutes`, the model may be better.")
    if found.teachers:
        teachers = ", ".join(found.teachers)
        lines.append(f"- The model also learned from what these trainings predict for all nodes: {teachers}.")
    lines += [f"- {one.name}: {one.note}; not used." for one in tried if one.note and one.name != found.name]
    return [*lines, *better_rival(found)]


def brevity(found: "Found") -> list[str]:
    """How long the simpler models of a search were trained, beside which the table of a comparison is misread."""
    if not found.rivals:
        return []
    return [
        "- Simpler models had fewer epochs and settings than with `--compare`, which trains them to their end: a search"
        " limits them as it limits its own finalists."
    ]


def better_rival(found: "Found") -> list[str]:
    """Where a rival is clearly better on the validation nodes: how to use it, and what the model keeps of it."""
    from ncgnn.search.levels import NEAR

    name, best = max(found.rivals.items(), key=lambda item: item[1].accuracy, default=("", None))
    if best is None or best.accuracy <= found.val_accuracy + NEAR:
        return []
    title = best.attempt.model.title
    kept = "what this model learned from it" if title in found.teachers else "this model"
    return [
        f"- {title} is better on the validation nodes: `--model {name} --search quick` trains it, without explanations."
        f" Averaged over ten epochs, which is less subject to luck than the best epoch alone, {title} reaches"
        f" {best.accuracy:.1%}, {kept} {found.val_accuracy:.1%}."
    ]


def after_refit(scored: "Scored", final: "Scored") -> list[str]:
    """Which nodes the figures are from, and which the model was trained on."""
    labelled = int(final.data.train_mask.sum())
    figures = (
        "All figures in this report are of the test nodes, predicted by a model that had not seen their labels."
        if scored.data.test_mask.any()
        else "All figures in this report are of the validation nodes, which also chose the epoch and the settings, so"
        " they are too good: keep test nodes for an honest figure."
    )
    lines = [f"- {figures} The model in this folder was then trained on all {labelled} labels."]
    if final.calibration is not None and scored.data.get("calibration_mask") is None:
        lines.append("- Probabilities are calibrated by cross-validation on the training and validation nodes.")
    return lines


def description(found: "Found", level: str) -> dict[str, Any]:
    """The search for ``run.json``."""
    about = {"level": level, "chosen": found.name, "teachers": found.teachers, "trainings": len(found.tried)}
    return about | ({"cut": True} if found.is_cut else {})


def write_search(folder: Path, found: "Found") -> None:
    """All trainings of a search, as ``search.csv``."""
    import pandas as pd

    from ncgnn.files import atomic

    with atomic(folder / "search.csv") as file:
        pd.DataFrame([asdict(one) for one in found.tried]).to_csv(file, index=False, lineterminator="\n")
