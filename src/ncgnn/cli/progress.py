"""Progress on standard error: a moving bar in a terminal, nothing in a pipe."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress

    from ncgnn.train import Epoch

T = TypeVar("T")


def track(items: Iterable[T], title: str, total: int | None = None) -> Iterable[T]:
    """The items, with a bar that moves as they are taken; ``total`` says how many, where they are no list."""
    with _bar() as bar:
        yield from bar.track(items, total=total, description=title)


@contextmanager
def epochs(title: str, most: int) -> Iterator[Callable[["Epoch"], None]]:
    """A bar over the epochs of a run; call what it gives after each."""
    with _bar() as bar:
        task = bar.add_task(title, total=most)

        def show(epoch: "Epoch") -> None:
            text = f"{title}  loss {epoch.train_loss:.4f}  validation {epoch.val_accuracy:.2%}"
            bar.update(task, completed=epoch.epoch, description=text)

        yield show


@contextmanager
def runs(title: str, total: int) -> Iterator[Callable[[], None]]:
    """A bar over runs, with the time that is left; call what it gives after each."""
    from rich.progress import TimeRemainingColumn

    with _bar() as bar:
        bar.columns = (*bar.columns, TimeRemainingColumn())
        task = bar.add_task(title, total=total)
        yield lambda: bar.update(task, advance=1)


def _bar() -> "Progress":
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
