"""The command line: ``ncgnn VERB``, one file per verb."""

import errno
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from typing import Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from ncgnn.cli.bench import bench
from ncgnn.cli.check import check
from ncgnn.cli.datasets import datasets
from ncgnn.cli.example import example
from ncgnn.cli.explain import explain
from ncgnn.cli.flags import with_flags
from ncgnn.cli.models import models
from ncgnn.cli.notes import note
from ncgnn.cli.postponed import postpone
from ncgnn.cli.predict import predict
from ncgnn.cli.quiet import silence_dependencies
from ncgnn.cli.reproduce import reproduce
from ncgnn.cli.serve import serve
from ncgnn.cli.train import train
from ncgnn.cli.tune import tune
from ncgnn.errors import InputError
from ncgnn.text import is_unicode, shortened

_OF_MEMORY = ("can't allocate memory", "out of memory")  # in errors of torch
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


class _Flags:
    """A command whose help shows no type for flags."""

    def get_params(self, ctx: Any) -> list[Any]:
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if getattr(param, "is_flag", False):
                param.metavar = ""
        return params


class _Command(_Flags, TyperCommand):
    pass


class _Group(_Flags, TyperGroup):
    """All verbs. Wrong usage ends with one line, as every other mistake does."""

    def main(self, *args: Any, **extra: Any) -> Any:
        try:
            code = super().main(*args, **{**extra, "standalone_mode": False})
        except typer.Abort:
            code = _told("stopped", 130)
        except Exception as error:
            if not hasattr(error, "format_message"):  # typer's own errors, of which it exports no common class
                raise
            code = _explain(error)
        sys.exit(code)


app = typer.Typer(
    cls=_Group,
    help="Explainable node classification.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


class _Terminated(KeyboardInterrupt):
    """The end by SIGTERM: what cleans up after Ctrl-C does so after this, too."""


def _verb(function: Callable[..., None]) -> Callable[..., None]:
    """The function as a verb: it ends with one line and exit code 2 for a mistake, 130 for Ctrl-C, 143 for SIGTERM."""

    @wraps(function)
    def run(**options: Any) -> None:
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _note
                with _processes(function.__name__):
                    function(**options)
            sys.stdout.flush()  # at the end of Python, a full disk would be a traceback
        except InputError as error:
            _fail(with_flags(str(error), error.options), 2)
        except (MemoryError, RuntimeError) as error:
            if isinstance(error, RuntimeError) and not any(words in str(error) for words in _OF_MEMORY):
                raise
            _fail("not enough memory: use a smaller graph, or smaller or fewer layers", 2)
        except OSError as error:
            if error.errno == errno.EPIPE:  # whoever reads the output has seen enough
                raise
            _fail(_of_files(error), 2)
        except _Terminated:
            _fail("stopped by SIGTERM", 143)
        except KeyboardInterrupt:
            _fail("stopped", 130)
        except Exception:
            if signal.getsignal(signal.SIGTERM) is not signal.SIG_IGN:
                raise
            _fail("stopped by SIGTERM", 143)  # which a library has swallowed, half-way through an import

    return run


def _of_files(error: OSError) -> str:
    """Files that are written are named where that fails, so a full disk without a name is that of what is printed."""
    if error.filename is None and error.errno in _NO_ROOM:
        _drop_output()
        return f"standard output: cannot be written ({error.strerror})"
    return f"{error.filename}: {error.strerror}" if error.filename else str(error)


def _drop_output() -> None:
    """Python writes what is left of it once more at its end, and would fail again."""
    with suppress(OSError, ValueError):  # not a file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def _processes(verb: str) -> Iterator[None]:
    """Connected with the other processes, where torchrun has started this one."""
    if "TORCHELASTIC_RUN_ID" not in os.environ:
        yield
        return
    from ncgnn.train.processes import joined

    with joined():
        if verb not in ("train", "predict", "explain"):
            raise InputError(f"ncgnn {verb} runs in a single process: start it without torchrun")
        yield


for verb in (example, datasets, models, check, train, predict, explain, serve, tune, reproduce, bench):
    app.command(cls=_Command)(_verb(verb))


@app.callback(invoke_without_command=True)
def _options(version: bool = typer.Option(False, "--version", help="Print the version and exit.")) -> None:
    if version:
        from ncgnn import __version__

        print(__version__)
        raise typer.Exit


def main() -> None:
    """Run the command line."""
    _open_closed()
    silence_dependencies()
    postpone()
    garbled = next((text for text in sys.argv[1:] if not is_unicode(text)), None)
    if garbled is not None:  # as file names may be; they would end up in reports and pages
        sys.exit(_told(f"{garbled!a} is not valid Unicode text: rename it", 2))
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        app(prog_name="ncgnn")
    finally:
        signal.signal(signal.SIGTERM, before)


def _open_closed() -> None:
    """Give standard streams that are closed to nothing; a file would take their numbers, and be printed into."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), "w"))


def _terminate(*_: object) -> NoReturn:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # cleaning up takes moments
    raise _Terminated


def _note(message: Warning | str, *_: object, **__: object) -> None:
    note(" ".join(str(message).split()))


def _explain(error: Any) -> int:
    """Wrong usage in one line."""
    if type(error).__name__ == "NoArgsIsHelpError":  # printed by typer
        return int(error.exit_code)
    help = f"; see {error.ctx.command_path} --help" if getattr(error, "ctx", None) else ""
    return _told(error.format_message().rstrip(".") + help, error.exit_code)


def _fail(message: str, code: int) -> NoReturn:
    raise typer.Exit(_told(message, code))


def _told(message: str, code: int) -> int:
    print("ncgnn:", shortened(message), file=sys.stderr)
    return code
