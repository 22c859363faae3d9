"""Several files of a folder replaced together: whenever a process is killed, they are all old or all new.

The new files are written to a temporary folder inside. One rename to ``.ncgnn-complete`` decides: before it, nothing
has changed; after it, the new files count, and whoever opens the folder next moves those that are still there.
"""

import os
import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import lock_descriptor

from ncgnn.errors import InputError
from ncgnn.files import check_place, sync_folder
from ncgnn.temporary import remove, remove_abandoned, temporary_folder

COMPLETE = ".ncgnn-complete"


@contextmanager
def together(folder: Path, owned: Iterable[str] = ()) -> Iterator[Path]:
    """A temporary folder; its files move to ``folder`` together when the block ends well, otherwise nothing changes.

    ``owned`` are all files that belong together; those that were not written are removed.
    """
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with temporary_folder(folder) as stage:
            try:
                yield stage
                _move(stage, folder, owned)
            except InputError as error:  # users know the folder only
                raise InputError(str(error).replace(str(stage), str(folder)), *error.options) from None
    except BaseException:
        if is_new:
            with suppress(OSError):
                folder.rmdir()
        raise


@contextmanager
def settled(folder: Path) -> Iterator[None]:
    """No other process replaces files of the folder while the block runs, and nothing is left of killed ones."""
    with _alone(folder):
        remove_abandoned(folder)
        _finish(folder)
        yield


def _move(stage: Path, folder: Path, owned: Iterable[str]) -> None:
    for path in stage.iterdir():
        check_place(folder / path.name)
    with settled(folder), _undisturbed():
        for name in owned:
            if os.path.lexists(folder / name):
                (stage / name).touch()  # an empty file is one to remove; those that were written are not empty
        sync_folder(stage)
        os.rename(stage, folder / COMPLETE)
        _finish(folder)


def _finish(folder: Path) -> None:
    """Move complete files to their places; each step may be repeated, so it does not matter where the last ended."""
    complete = folder / COMPLETE
    if not complete.is_dir() or complete.is_symlink():  # whose files would be those of another folder
        return
    sync_folder(folder)
    try:
        for path in sorted(complete.iterdir()):
            if path.stat().st_size:
                os.replace(path, folder / path.name)
            else:
                remove(folder / path.name)
                path.unlink()
        complete.rmdir()
    except OSError as error:
        raise InputError(
            f"{folder}: its files were being replaced when a process was stopped, and this cannot be finished"
            f" ({error.strerror})"
        ) from None


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system without locks
            lock_descriptor(handle, poll_interval=0.01)
        yield
    finally:
        os.close(handle)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Ctrl-C and SIGTERM take effect after the block."""
    if threading.current_thread() is not threading.main_thread():  # which alone is interrupted
        yield
        return
    caught: list[int] = []
    usual = {number: signal.signal(number, lambda n, _: caught.append(n)) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in usual.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        for late in caught:
            signal.raise_signal(late)
