"""Choose settings on validation nodes, and train one model from the best.

Candidates are trained briefly, the best of them longer and repeatedly; the winner's trainings, and a simpler model if
it is as good, then teach one more model of the winner's settings. No step reads a test label.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from time import monotonic
from typing import Any

from torch import Tensor

from ncgnn.data.checks import check_split
from ncgnn.errors import InputError
from ncgnn.models import Fitted, Model, PreparedGraph, RunSettings
from ncgnn.search.attempts import Attempt, OutOfTime, Result, Trainer
from ncgnn.search.levels import LEVELS, NEAR, Level
from ncgnn.train.epoch import Diverged
from ncgnn.train.soft_targets import soft_targets

FEW = 200
"""With fewer validation nodes, all finalists but the last are also trained on a resampled split."""

Watch = Callable[[str, int, int], None]
"""Called before each training with what is being tried, its number, and how many there will be at most."""


@dataclass(frozen=True)
class Tried:
    """One training of a search.

    Attributes:
        step: ``first``, ``candidates``, ``finalists``, ``teachers``, ``students`` or ``rivals``.
        name: the candidate, or the model.
        seed: of weights and dropout.
        draw: 0 for the given split, 1 for a resampled one.
        val_accuracy: on validation nodes, averaged over consecutive epochs.
        best_epoch: the epoch whose weights were kept.
        epochs: number of epochs.
        seconds: time for training.
        note: what went wrong, if anything.
    """

    step: str
    name: str
    seed: int
    draw: int
    val_accuracy: float
    best_epoch: int
    epochs: int
    seconds: float
    note: str = ""


@dataclass(frozen=True, eq=False)
class Found:
    """The outcome of a search.

    Attributes:
        name: the candidate that won.
        settings: its settings.
        fitted: the trained model.
        val_accuracy: on validation nodes, averaged over consecutive epochs.
        teachers: names of the models it learned from, besides the labels; empty if it learned from labels alone.
        targets: the soft targets it learned from [N, C], if any.
        tried: all trainings.
        rivals: the best training of each rival.
        is_cut: whether the time limit ended it.
    """

    name: str
    settings: RunSettings
    fitted: Fitted
    val_accuracy: float
    teachers: list[str]
    targets: Tensor | None
    tried: list[Tried]
    rivals: dict[str, Result] = field(repr=False)
    is_cut: bool = False


def search(
    graph: PreparedGraph,
    model: Model[Any],
    level: str = "quick",
    seed: int = 0,
    rivals: Sequence[Model[Any]] = (),
    folder: Path | None = None,
    minutes: float | None = None,
    watch: Watch = lambda what, number, total: None,
    balance: bool = False,
) -> Found:
    """Search for the model with the best validation accuracy.

    Args:
        graph: with its split.
        model: whose candidates are tried.
        level: ``quick`` or ``thorough``.
        seed: of the whole search; the same seed gives the same model, unless ``minutes`` cuts it short.
        rivals: simpler models to train on the same nodes; those that are as good also teach.
        folder: stores finished trainings; an interrupted search continues there.
        minutes: time limit.
        watch: called before each training.
        balance: give all classes the same weight in every training.
    """
    if level not in LEVELS:
        raise InputError(f"search level {level!r}: must be one of {', '.join(LEVELS)}")
    if minutes is not None and not minutes > 0:
        raise InputError(f"minutes = {minutes}: must be positive")
    check_split(graph.data)
    deadline = None if minutes is None else monotonic() + 60 * minutes
    return _Search(Trainer(graph, folder, deadline), model, LEVELS[level], seed, list(rivals), watch, balance).run()


class _Search:
    def __init__(
        self,
        trainer: Trainer,
        model: Model[Any],
        level: Level,
        seed: int,
        rivals: list[Model[Any]],
        watch: Watch,
        balance: bool,
    ) -> None:
        self.trainer, self.model, self.level, self.seed, self.watch = trainer, model, level, seed, watch
        self.others = rivals
        self.fixed = {"balance": balance}
        self.candidates = model.portfolio(trainer.graph)
        self.tried: list[Tried] = []
        self.results: dict[str, list[Result]] = {name: [] for name in self.candidates}
        self.rivals: dict[str, Result] = {}
        self.best: tuple[str, Result] | None = None  # so far, on the given split
        self.teachers: dict[int, list[str]] = {}
        self.usual = 100  # epochs that the first candidate takes

    @property
    def total(self) -> int:
        """The most trainings that there can be."""
        level, rivals = self.level, sum(len(self._of_rival(other)) for other in self.others)
        drawn = level.finalists - 1 if self._is_few else 0
        return len(self.candidates) + level.finalists * level.repeats + drawn + level.seeds + 2 + rivals

    @property
    def _is_few(self) -> bool:
        return int(self.trainer.graph.data.val_mask.sum()) < FEW

    def run(self) -> Found:
        is_cut = False
        try:
            self._all_steps()
        except OutOfTime:
            is_cut = True
            if self.best is None:
                raise InputError("the time limit ended the search before one training: allow more minutes") from None
        if self.best is None:
            raise InputError(f"no setting that was tried can be trained on this graph: {self.tried[0].note}")
        name, result = self.best
        attempt = result.attempt
        teachers = self.teachers.get(id(result), [])
        parts = result.fitted, result.accuracy, teachers, attempt.targets
        return Found(name, attempt.settings, *parts, self.tried, self.rivals, is_cut)

    def _all_steps(self) -> None:
        self._learn_how_long()
        for name in list(self.candidates)[1:]:
            self._try("candidates", name, 0)
        for name in self._ranked()[: self.level.finalists]:
            for repeat in range(1, self.level.repeats + 1):
                self._try("finalists", name, repeat)
        for name in self._ranked()[: self.level.finalists - 1] if self._is_few else ():
            self._try("finalists", name, self.level.repeats + 1, draw=1)
        if not self._ranked():
            return
        winner = self._ranked()[0]
        done = len(self._on_given(winner))
        for repeat in range(done, done + self.level.seeds):
            self._try("teachers", winner, repeat)
        for other in self.others:
            self._try_rival(other)
        self._teach(winner)

    def _learn_how_long(self) -> None:
        """Train the first candidate to its end, as without a search; what follows is limited in its epochs. Only its
        first epochs are compared with those of the other candidates."""
        name, settings = next(iter(self.candidates.items()))
        attempt = Attempt(self.model, _limited(settings, self.fixed, self.seed))
        result = self._run("first", name, attempt)
        if result is not None:
            self.best, self.usual = (name, result), len(result.fitted.history)
            brief = result.fitted.history[: self.level.brief.limits(self.usual)["epochs"]]
            self.results[name].append(replace(result, fitted=replace(result.fitted, history=brief)))

    def _try(self, step: str, name: str, repeat: int, draw: int = 0, targets: Tensor | None = None) -> Result | None:
        limits = (self.level.brief if step == "candidates" else self.level.long).limits(self.usual)
        settings = _limited(self.candidates[name], limits | self.fixed, self.seed + repeat)
        result = self._run(step, name, Attempt(self.model, settings, targets, draw))
        if result is not None and targets is None:
            self.results[name].append(result)
            if draw == 0 and (self.best is None or _rank(result) > _rank(self.best[1])):
                self.best = name, result
        return result

    def _run(self, step: str, name: str, attempt: Attempt) -> Result | None:
        self.watch(f"{step}: {name}", len(self.tried) + 1, self.total)
        seed = attempt.settings.seed
        try:
            result = self.trainer.run(attempt)
        except (Diverged, InputError) as error:
            self.tried.append(Tried(step, name, seed, attempt.draw, 0.0, 0, 0, 0.0, str(error)))
            return None
        best, history = result.fitted.best, result.fitted.history
        note = "predicts one class for all nodes" if result.is_collapsed else ""
        figures = round(result.accuracy, 6), best.epoch, len(history), round(result.seconds, 3)
        self.tried.append(Tried(step, name, seed, attempt.draw, *figures, note))
        return result

    def _ranked(self) -> list[str]:
        """The candidates, best first: those with more of the longer trainings before others, and by these."""

        def key(name: str) -> tuple[bool, int, float]:
            brief, *long = self.results[name]
            if not long:
                return not brief.is_collapsed, 0, brief.rank
            return not all(one.is_collapsed for one in long), len(long), fmean(one.rank for one in long)

        return sorted((name for name, found in self.results.items() if found), key=key, reverse=True)

    def _on_given(self, name: str) -> list[Result]:
        """The trainings of a candidate on the given split."""
        return [result for result in self.results[name] if result.attempt.draw == 0]

    def _try_rival(self, other: Model[Any]) -> None:
        tried = []
        limits = self.level.long.limits(self.usual)
        for settings in self._of_rival(other):
            attempt = Attempt(other, _limited(settings, limits | self.fixed, self.seed))
            tried.append(self._run("rivals", other.title, attempt))
        found = [result for result in tried if result is not None]
        if found:
            self.rivals[other.name] = max(found, key=lambda result: result.fitted.best.rank)

    def _of_rival(self, other: Model[Any]) -> list[RunSettings]:
        found: list[RunSettings] = other.candidates()[: self.level.of_rivals]
        return found

    def _teach(self, winner: str) -> None:
        """Train the winner towards what good models say: its own kind, then with rivals that are as good, or rivals
        alone that are better. A student is kept if it is as good as the trainings of the winner are on average; their
        best is partly luck."""
        own = self._good_trainings()
        trainings = [result for result in self._on_given(winner)[1:] if not result.is_collapsed]
        if trainings:
            self.best = winner, max(trainings, key=_rank)
        if not self.model.takes_targets or not own or not trainings:
            return
        students = [self._learn(winner, own)]
        best = max(result.accuracy for result in (*trainings, *students) if result is not None)
        rivals = [
            (other.title, self.rivals[other.name])
            for other in self.others
            if other.name in self.rivals
            and not self.rivals[other.name].is_collapsed
            and self.rivals[other.name].accuracy >= best - NEAR
        ]
        better = [(title, result) for title, result in rivals if result.accuracy > best + NEAR]
        students += [self._learn(winner, better or [*own, *rivals])] if rivals else []
        usual = fmean(result.rank for result in trainings)
        good = [one for one in students if one is not None and not one.is_collapsed and one.rank >= usual]
        if good:
            self.best = winner, max(good, key=_rank)

    def _good_trainings(self) -> list[tuple[str, Result]]:
        """Of finalists on the given split that are nearly as good as the best."""
        long = [(n, r) for n, found in self.results.items() for r in found[1:] if r.attempt.draw == 0]
        best = max((result.accuracy for _, result in long), default=0.0)
        return [(name, result) for name, result in long if result.accuracy >= best - NEAR and not result.is_collapsed]

    def _learn(self, winner: str, teachers: list[tuple[str, Result]]) -> Result | None:
        targets = soft_targets([result.shares for _, result in teachers], self.trainer.graph.data)
        result = self._try("students", winner, 0, targets=targets)
        if result is not None:
            self.teachers[id(result)] = list(dict.fromkeys(name for name, _ in teachers))
        return result


def _limited(settings: RunSettings, limits: Mapping[str, int], seed: int) -> RunSettings:
    """The settings with a seed and those of the limits that the model has."""
    known = {key: value for key, value in limits.items() if key in type(settings).model_fields}
    return settings.model_copy(update={**known, "seed": seed})


def _rank(result: Result) -> tuple[bool, float]:
    return not result.is_collapsed, result.rank
