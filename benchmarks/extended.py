"""Choose what the extended models of the paper's tables are: results/extended/validation.csv.

``python -m benchmarks.extended`` runs what is missing and can be interrupted and resumed at any time; ``--write`` only
writes the files that ``ncgnn reproduce`` reads, src/ncgnn/experiments/extended. Test labels are hidden throughout.

Each model of the tables is trained with several settings on labels alone; the two best learn from themselves, from an
APPNP, and from both. All are trained on the first split, and the better half of them on the next one. The mean
validation accuracy over these splits decides, each averaged over ten consecutive epochs. On graphs with few nodes to
judge, nothing is left out before all splits have been seen. The GCN goes through the same procedure.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean
from time import process_time
from typing import Any

from benchmarks import table
from benchmarks.table import Row
from ncgnn.data.splits import hide_test_labels
from ncgnn.experiments.cells import EXTENDED, GCN_EXTENDED, Cell, all_cells
from ncgnn.experiments.protocol import draw_split, graph
from ncgnn.experiments.recipes import ITSELF, LINES, Line, extended_path
from ncgnn.files import atomic, toml
from ncgnn.models import PreparedGraph, RunSettings, find_model
from ncgnn.models.ncgnn import Config
from ncgnn.models.ncgnn.portfolio import AVERAGED
from ncgnn.provenance import machine
from ncgnn.search.attempts import Attempt, Result, Trainer
from ncgnn.train.reproducible import use_threads
from ncgnn.train.soft_targets import soft_targets

ROOT = Path(__file__).parents[1]
RESULTS, TRAINED = ROOT / "results/extended/validation.csv", ROOT / "runs/extended"
KEY = ("graph", "model", "candidate", "teachers", "split", "seed")
APPNP = "appnp"
FINALISTS = 2
TEACHERS = ((ITSELF,), (APPNP,), (ITSELF, APPNP))
_LIGHT = {"weight_decay": 5e-4}
_SMALL = {"num_capsules": 4, "primary_channels": 32, "iterations": 2, "beta": 2.0, "init": "glorot"}
COSTLY = ("squirrel",)
"""Graphs whose preset takes ten times as long to train as any other setting, and is far from the best."""
STUDENT = "small, averaged weights, little decay"
"""Weak on labels alone, but it learns well from others."""


Option = tuple[str, tuple[str, ...]]
"""A candidate and the models that teach it."""


@dataclass(frozen=True)
class Task:
    """A model to choose for a graph, and the cell whose splits it is chosen on."""

    cell: Cell

    @property
    def line(self) -> Line:
        return LINES[self.cell.model]

    @property
    def has_few_judges(self) -> bool:
        return self.cell.dataset in ("texas", "cornell", "wisconsin")

    @property
    def runs(self) -> list[tuple[int, int]]:
        """Splits and seeds: more of them where few nodes judge."""
        if self.cell.is_synthetic:
            return [(0, seed) for seed in range(3)]
        return [(split, 0) for split in range(5 if self.has_few_judges else 2)]


def tasks() -> list[Task]:
    """Each graph and model once; of the columns of a table the last one, of the tables the first."""
    chosen: dict[tuple[str, str], Cell] = {}
    for cell in all_cells():
        if cell.model in (*EXTENDED.values(), GCN_EXTENDED) and cell.table != "7":
            chosen[cell.graph, cell.model] = cell
    return [Task(cell) for cell in chosen.values()]


def candidates(task: Task) -> dict[str, RunSettings]:
    """What is trained on labels alone."""
    model = find_model(task.line.model)
    preset = model.preset(task.cell.graph, task.line.variant)
    if not isinstance(preset, Config):
        found = {"tuned": preset} if preset is not None else {}
        found |= {f"candidate {number}": one for number, one in enumerate(model.candidates(), 1)}
        return found | {f"{name}, averaged": one.model_copy(update={"averaging": 0.9}) for name, one in found.items()}
    return {name: Config.make(values) for name, values in _of_ncgnn(task, preset).items()}


def _of_ncgnn(task: Task, preset: Config) -> dict[str, dict[str, Any]]:
    """The preset, with averaged weights too, and a small student; where neighbours may differ, the preset and the
    portfolio with its groups of capsules."""
    own = preset.model_dump(exclude={"seed"})
    if task.cell.table not in ("5", "6", "extra"):
        return {
            "preset": own,
            "averaged weights": own | AVERAGED,
            "averaged weights, little decay": own | AVERAGED | _LIGHT,
            STUDENT: own | AVERAGED | _LIGHT | _SMALL,
        }
    portfolio = find_model(task.line.model).portfolio(_prepared(task.cell, 0))
    found = {f"portfolio: {name}": one.model_dump(exclude={"seed"}) for name, one in portfolio.items()}
    return found if task.cell.graph in COSTLY else {"preset": own, **found}


@cache
def _prepared(cell: Cell, split: int) -> PreparedGraph:
    return PreparedGraph.of_complete(hide_test_labels(draw_split(graph(cell.graph), cell, split)))


def choose(task: Task) -> None:
    """Measure what is missing for a task, labels alone before teachers."""
    known = candidates(task)
    _halve(task, [(name, ()) for name in known])
    alone = [name for (name, teachers), _ in means(task) if not teachers]
    finalists = dict.fromkeys((*alone[:FINALISTS], *([STUDENT] if STUDENT in known else [])))
    _halve(task, [(name, teachers) for name in finalists for teachers in TEACHERS])


def _halve(task: Task, field: Sequence[Option]) -> None:
    for number, (split, seed) in enumerate(task.runs, 1):
        for name, teachers in field:
            _measure(task, name, teachers, split, seed)
        found = measured(task)
        ranked = sorted(field, key=lambda option: -fmean(found[option][run] for run in task.runs[:number]))
        field = ranked if task.has_few_judges else ranked[: max(FINALISTS, (len(field) + 1) // 2)]


def means(task: Task) -> list[tuple[Option, float]]:
    """Mean validation accuracy of each option that was trained on all splits, best first; of equal ones the simpler."""
    full = [(option, fmean(runs.values())) for option, runs in measured(task).items() if len(runs) == len(task.runs)]
    return sorted(full, key=lambda one: -one[1])


def measured(task: Task) -> dict[Option, dict[tuple[int, int], float]]:
    """Validation accuracies of each option with its present settings by split and seed, the simpler options first."""
    known, found = candidates(task), dict[Option, dict[tuple[int, int], float]]()
    for row in table.read(RESULTS):
        name = row["candidate"]
        if _is_of(row, task) and name in known and str(row["config"]) == known[name].hash:
            runs = found.setdefault((name, tuple(row["teachers"].split())), {})
            runs[row["split"], row["seed"]] = row["val_accuracy"]
    return dict(sorted(found.items(), key=lambda one: (len(one[0][1]), list(known).index(one[0][0]))))


def _is_of(row: Row, task: Task) -> bool:
    return bool(row["graph"] == task.cell.graph and row["model"] == task.cell.model)


def _measure(task: Task, name: str, teachers: Sequence[str], split: int, seed: int) -> None:
    settings = candidates(task)[name].model_copy(update={"seed": seed})
    identity = {"graph": task.cell.graph, "model": task.cell.model, "candidate": name}
    wanted = identity | {"teachers": " ".join(teachers), "split": split, "seed": seed, "config": settings.hash}
    if table.holds(table.read(RESULTS), wanted):
        return
    start = process_time()
    with use_threads(1):
        trainer = Trainer(_prepared(task.cell, split), TRAINED)
        own = Attempt(find_model(task.line.model), settings)
        said = [_teacher(trainer, own, teacher, seed).shares for teacher in teachers]
        targets = soft_targets(said, trainer.graph.data) if said else None
        result = trainer.run(Attempt(own.model, settings, targets))
    found = {"val_accuracy": round(result.accuracy, 6), "cpu_seconds": round(process_time() - start, 1)}
    table.keep(RESULTS, [wanted | found | machine()], KEY)
    print(*wanted.values(), found["val_accuracy"], found["cpu_seconds"], flush=True)


def _teacher(trainer: Trainer, own: Attempt, name: str, seed: int) -> Result:
    if name == ITSELF:
        return trainer.run(own)
    return trainer.run(Attempt(find_model(APPNP), _appnp(trainer).model_copy(update={"seed": seed})))


def _appnp(trainer: Trainer) -> RunSettings:
    """The better of the published settings with and without row-normalised features, by validation accuracy."""
    model = find_model(APPNP)
    found = [trainer.run(Attempt(model, settings)) for settings in model.candidates()[1:3]]
    return max(found, key=lambda one: one.accuracy).attempt.settings


def write(task: Task) -> None:
    """The file of the best candidate with its teachers."""
    best = means(task)
    if not any(teachers for (_, teachers), _ in best):
        return
    (name, teachers), accuracy = best[0]
    settings, path = candidates(task)[name], extended_path(task.line, task.cell.graph)
    where = " and ".join(
        [f"{len({split for split, _ in task.runs})} splits", f"{len({s for _, s in task.runs})} seeds"]
    )
    head = [
        "python -m benchmarks.extended",
        f"{name}; the best of {len(measured(task))} with and without teachers",
        f"validation accuracy {accuracy:.4f} on {where}",
    ]
    text = "".join(f"# {line}\n" for line in head) + f"teachers = {list(teachers)}\n".replace("'", '"')
    text += f"\n[settings]\n{toml(settings.effective())}"
    if APPNP in teachers:
        with use_threads(1):
            appnp = _appnp(Trainer(_prepared(task.cell, 0), TRAINED))
        text += f"\n[{APPNP}]\n{toml(appnp.effective())}"
    path.parent.mkdir(exist_ok=True)
    with atomic(path) as file:
        file.write(text)


def chosen(graphs: Sequence[str] | None, models: Sequence[str] | None) -> Iterator[Task]:
    for task in tasks():
        if (not graphs or task.cell.graph in graphs) and (not models or task.cell.model in models):
            yield task


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", nargs="+", help="default: all")
    parser.add_argument("--models", nargs="+", choices=(*EXTENDED.values(), GCN_EXTENDED), help="default: all")
    parser.add_argument("--write", action="store_true", help="run nothing; write the files")
    options = parser.parse_args()
    for task in chosen(options.graphs, options.models):
        if options.write:
            write(task)
        else:
            choose(task)


if __name__ == "__main__":
    main()
