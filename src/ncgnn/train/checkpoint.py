"""Checkpoints: how far the trainings of a run are, in files from which the same run continues after a kill."""

import hashlib
import json
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any

import torch
from torch import Tensor

from ncgnn.files import atomic
from ncgnn.train.processes import is_first_here, newest

_FORMAT = "ncgnn-checkpoint-3"

PAUSE = 5.0
"""Least number of seconds between two checkpoints."""

SHARE = 0.05
"""Greatest share of the time that may go into writing checkpoints."""


class Checkpoints:
    """The checkpoints of a run. It repeats the same trainings in the same order, so each is known by its number.

    Args:
        folder: where to.
        about: gives all that the trainings depend on; checkpoints of anything else are ignored.
        on_continue: called with the epoch that a training continues after.
    """

    def __init__(
        self, folder: Path, about: Callable[[], object], on_continue: Callable[[int], None] = lambda epoch: None
    ) -> None:
        self.folder, self._about, self.on_continue, self._begun = folder, about, on_continue, 0

    @cached_property
    def key(self) -> str:
        return hashlib.sha256(json.dumps([_FORMAT, self._about()], sort_keys=True).encode()).hexdigest()

    def next(self) -> "Checkpoint":
        """That of the next training."""
        self._begun += 1
        return Checkpoint(self, self.folder / f"training-{self._begun}.pt")


class Checkpoint:
    """The checkpoint of one training."""

    def __init__(self, run: Checkpoints, path: Path) -> None:
        self.run, self.path = run, path
        self._start = self._last = perf_counter()
        self._cost = 0.0

    def read(self) -> dict[str, Any] | None:
        """What was written last, by this process or an earlier one, on any machine; None if there is nothing."""
        found = self._read()
        state: dict[str, Any] | None = newest(None if found is None else (len(found["history"]), found))
        return state

    def _read(self) -> dict[str, Any] | None:
        """None for a damaged file, too."""
        if not self.path.is_file():
            return None
        try:
            return self._state(torch.load(self.path, "cpu", weights_only=True, mmap=True))
        except Exception:  # whatever is wrong with the file, training can begin anew
            warnings.warn(f"{self.path}: damaged checkpoint; training begins anew", UserWarning, stacklevel=2)
            return None

    def _state(self, found: dict[str, Any]) -> dict[str, Any] | None:
        """What a file holds; None if it is of another run."""
        if found["key"] != self.run.key:
            return None
        state: dict[str, Any] = found["state"]
        if found["checksum"] != _checksum(state):
            raise ValueError("it is not as it was written")
        return state

    def is_due(self) -> bool:
        """Whether it is time to write."""
        return is_first_here() and perf_counter() - self._last >= max(PAUSE, self._cost / SHARE)

    def is_worth_it(self) -> bool:
        """Whether the training has taken long enough that its end is kept."""
        return is_first_here() and perf_counter() - self._start >= PAUSE

    def write(self, state: dict[str, Any]) -> None:
        """Replace what was written before; a kill leaves the one or the other."""
        start = perf_counter()
        content = {"key": self.run.key, "checksum": _checksum(state), "state": state}
        self.run.folder.mkdir(parents=True, exist_ok=True)
        with atomic(self.path, "wb") as file:
            try:
                torch.save(content, file)
            except RuntimeError as error:  # torch's own words hide that the disk is full
                raise (error.__context__ if isinstance(error.__context__, OSError) else error) from None
        self._last = perf_counter()
        self._cost = self._last - start


def _checksum(value: object) -> str:
    digest = hashlib.sha256()
    _add(digest, value)
    return digest.hexdigest()


def _add(digest: Any, value: object) -> None:
    """Add tensors, numbers and text in nested containers."""
    if isinstance(value, Tensor):
        digest.update(f"{value.dtype} {tuple(value.shape)} ".encode())
        digest.update(value.detach().cpu().contiguous().flatten().view(torch.uint8).numpy())
        return
    parts = [*value, *value.values()] if isinstance(value, Mapping) else value
    if isinstance(parts, list | tuple):
        digest.update(f"{len(parts)} parts ".encode())
        for part in parts:
            _add(digest, part)
    else:
        digest.update(f"{value!r} ".encode())


_current: ContextVar[Checkpoints | None] = ContextVar("checkpoints", default=None)


@contextmanager
def checkpointed(checkpoints: Checkpoints) -> Iterator[None]:
    """Trainings inside the block write checkpoints, and continue from those that are there."""
    token = _current.set(checkpoints)
    try:
        yield
    finally:
        _current.reset(token)


def next_checkpoint() -> Checkpoint | None:
    """The checkpoint of the training that begins; None outside of :func:`checkpointed`."""
    current = _current.get()
    return None if current is None else current.next()
