"""Time of several tasks that take turns, so that a busy moment of the machine meets them all."""

import gc
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from math import ceil
from statistics import median
from time import perf_counter, process_time
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)
Task = Callable[[], object]

_TURN = 0.05  # seconds; a task that is faster is run several times a turn
_MOST = 20
_LONG = 2.0  # seconds; a task that takes longer is not run a second time to warm up
FEWEST = 3  # repeats that are made whatever they take


@dataclass
class Timing:
    """Milliseconds of one execution, one value a repeat: by the clock, and of all threads together."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def row(self) -> dict[str, float | int]:
        """The columns of a result."""
        return {
            "wall_median_ms": round(median(self.wall), 4),
            "wall_min_ms": round(min(self.wall), 4),
            "cpu_median_ms": round(median(self.cpu), 4),
            "cpu_min_ms": round(min(self.cpu), 4),
            "repeats": len(self.wall),
        }


def interleaved(
    tasks: Mapping[Key, Task], repeats: int, tell: Callable[[str], None] = lambda text: None, seconds: float = 1e9
) -> dict[Key, Timing]:
    """Run each task unmeasured, then all of them in turn, ``repeats`` times.

    Args:
        tell: is told what is being done.
        seconds: after this time no further repeat is begun, unless there are fewer than three yet.
    """
    numbers = {key: _warm_up(key, task, tell) for key, task in tasks.items()}
    timings = {key: Timing() for key in tasks}
    start = perf_counter()
    for repeat in range(repeats):
        if repeat >= FEWEST and perf_counter() - start > seconds:
            break
        for key, task in tasks.items():
            tell(f"repeat {repeat + 1} of {repeats}: {_name(key)}")
            turn(task, numbers[key], timings[key])
    return timings


def _warm_up(key: Hashable, task: Task, tell: Callable[[str], None]) -> int:
    """Run a task until it is compiled and its memory is at hand; how often it fits into a turn."""
    tell(f"warming up: {_name(key)}")
    start = perf_counter()
    task()
    if perf_counter() - start > _LONG:
        return 1
    start = perf_counter()
    task()
    return min(_MOST, ceil(_TURN / max(perf_counter() - start, 1e-9)))


def turn(task: Task, number: int, timing: Timing) -> None:
    """Measure ``number`` executions in a row, and note the mean."""
    gc.collect()
    wall, cpu = perf_counter(), process_time()
    for _ in range(number):
        task()
    timing.cpu.append((process_time() - cpu) * 1000 / number)
    timing.wall.append((perf_counter() - wall) * 1000 / number)


def _name(key: Hashable) -> str:
    return ", ".join(map(str, key)) if isinstance(key, tuple) else str(key)
