"""What verbs show and refuse alike: progress, tables, and options that would be ignored.

Progress goes to standard error: a moving bar in a terminal, elsewhere a plain line now and then. Notebooks are both:
behind ``!ncgnn`` they have a terminal, while what Python code prints there is a stream of lines.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from operator import length_hint
from time import monotonic
from typing import TYPE_CHECKING, Protocol, TypeVar

from ncgnn.errors import InputError
from ncgnn.text import shortened

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from ncgnn.train import Epoch

T = TypeVar("T")


class Show(Protocol):
    """How many are done, what is being done, and how many there are, where that was not known before."""

    def __call__(self, done: int, text: str, total: int | None = None) -> None: ...


PACE = 20.0  # seconds between two lines


def is_terminal() -> bool:
    """Whether someone watches. A wish for colours (FORCE_COLOR) makes no terminal of a pipe or a log file."""
    return sys.stderr.isatty()


def track(items: Iterable[T], title: str, total: int | None = None) -> Iterable[T]:
    """The items, with progress as they are taken; ``total`` says how many, where they are no list."""
    with _progress(title, total or length_hint(items)) as show:
        for done, item in enumerate(items, 1):
            yield item
            show(done, title)


@contextmanager
def epochs(title: str, most: int) -> Iterator[Callable[["Epoch"], None]]:
    """Progress over the epochs of a run; call what it gives after each."""
    with _progress(title, most) as show:
        yield lambda epoch: show(
            epoch.epoch, f"{title}  loss {epoch.train_loss:.4f}  validation {epoch.val_accuracy:.2%}"
        )


@contextmanager
def runs(title: str, total: int) -> Iterator[Callable[[], None]]:
    """Progress over runs, with the time that is left; call what it gives after each."""
    done = 0

    def one_more() -> None:
        nonlocal done
        done += 1
        show(done, title)

    with _progress(title, total, has_end=True) as show:
        yield one_more


@contextmanager
def steps(title: str) -> Iterator[Callable[[int, int, str], None]]:
    """Progress over steps, with the time that is left; call what it gives before each with the number of steps that are
    done, the number of all, and what is next."""
    with _progress(title, 0, has_end=True) as show:
        yield lambda done, total, text: show(done, f"{title}  {text}", total)


@contextmanager
def status(first: str) -> Iterator[Callable[[str], None]]:
    """What is being done, where it is not known how long it takes; call what it gives with each next thing."""
    if is_terminal():
        from rich.text import Text  # names from a graph are no markup

        with _console().status(Text(first)) as spinner:
            yield lambda text: spinner.update(Text(text))
    else:
        _print(first)
        yield _now_and_then()


@contextmanager
def _progress(title: str, total: int, has_end: bool = False) -> Iterator[Show]:
    if not is_terminal():
        say = _now_and_then()
        yield lambda done, text, most=None: say(f"{text}  {done}/{most or total}")
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.progress import TimeRemainingColumn as Remaining

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, *[Remaining()] * has_end, console=_console(), transient=True) as bar:
        task = bar.add_task(title, total=total or None)
        yield lambda done, text, most=None: bar.update(task, completed=done, description=text, total=most or total)


def _now_and_then() -> Callable[[str], None]:
    """Prints a text, unless the last was printed a moment ago."""
    last = monotonic()

    def say(text: str) -> None:
        nonlocal last
        if monotonic() - last >= PACE:
            last = monotonic()
            _print(text)

    return say


def _print(text: str) -> None:
    print("...", shortened(text), file=sys.stderr, flush=True)


def _console() -> "Console":
    from rich.console import Console

    return Console(stderr=True, force_terminal=True)


def print_tables(*tables: "Table", least: int = 120) -> None:
    """In a width of at least so many letters: a pipe or a small terminal must not cut numbers."""
    from rich.console import Console

    console = Console(width=max(least, Console().width))
    for table in tables:
        console.print(table)


def refuse(options: Mapping[str, object], why: str) -> None:
    """Ends at the first option that was given though it would be ignored."""
    given = next((option for option, value in options.items() if value), None)
    if given is not None:
        raise InputError(f"{why}: remove {given}")
