"""Commands in processes of their own that get a signal right before or after one of their renames."""

import os
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

import torch

from ncgnn.cli.app import main

WARM = "classifier compare experiments.workers explain page report.picture search tune.search cli.train"
for room in WARM.split():  # once, for all processes that are forked from this one
    import_module(f"ncgnn.{room}")


def renames(arguments: Sequence[object], folder: Path) -> int:
    """How often a command renames a file; it ends well."""
    code, text = run(arguments, folder)
    assert code == 0, text
    return int((folder / "renames.txt").read_text())


def run(
    arguments: Sequence[object],
    folder: Path,
    number: int = 0,
    sent: int = 0,
    is_after: bool = False,
) -> tuple[int, str]:
    """Exit code (negative: killed by this signal) and output of a command that is sent a signal at a rename.

    The process is a fork of this one, so that hundreds of them need not import everything again.
    """
    said = folder / "said.txt"
    child = os.fork()
    if child == 0:
        _become(arguments, folder, said, _Renames(folder / "renames.txt", number, sent, is_after))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code, said.read_text()


class _Renames:
    """Counts renames, and sends this process a signal at one of them."""

    def __init__(self, file: Path, number: int, sent: int, is_after: bool) -> None:
        self.file, self.number, self.sent, self.is_after, self.count = file, number, sent, is_after, 0

    def watch(self, rename: Callable[..., None]) -> Callable[..., None]:
        def watched(*arguments: object, **options: object) -> None:
            if "__pycache__" in str(arguments[1]):  # where numba stores what it has compiled, the first time
                return rename(*arguments, **options)
            self.count += 1
            self.file.write_text(str(self.count))
            if self.count == self.number and not self.is_after:
                os.kill(os.getpid(), self.sent)
            rename(*arguments, **options)
            if self.count == self.number and self.is_after:
                os.kill(os.getpid(), self.sent)

        return watched


def _become(arguments: Sequence[object], folder: Path, said: Path, watched: _Renames) -> None:
    code = 99
    try:
        handle = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(handle, 1)
        os.dup2(handle, 2)
        sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", closefd=False)
        os.chdir(folder / "here")
        torch.set_num_threads(1)  # the threads of OpenMP do not survive a fork, and it would wait for them
        warnings.simplefilter("ignore")
        watched.file.write_text("0")
        os.replace, os.rename = watched.watch(os.replace), watched.watch(os.rename)
        sys.argv = ["ncgnn", *map(str, arguments)]
        main()
    except SystemExit as end:
        code = int(end.code or 0)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
