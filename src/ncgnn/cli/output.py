"""Where a verb may write: never over what it reads nor into a run, and over other files only with ``--overwrite``."""

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ncgnn.errors import InputError

_UNFINISHED = {
    "checkpoint": re.compile(r"training-\d+\.pt|\.ncgnn-.*\.tmp"),
    "search": re.compile(r"[0-9a-f]{16}\.safetensors|\.ncgnn-.*\.tmp"),
}
"""Files of trainings that are not finished, in folders inside that of the run, which a finished run removes."""

Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace existing files.")]


def output_option(help: str, panel: str | None = None) -> Any:
    """An option for a file or folder to write."""
    return typer.Option(help=help, parser=given_path, metavar="PATH", rich_help_panel=panel)


def check_output(out: Path, overwrite: bool, inputs: Iterable[Path]) -> None:
    """Whether this file may be written; to be asked before long work."""
    from ncgnn.files import check_place

    place = check_place(out)
    if _is_of_run(place):
        folder = place.parent if out.is_symlink() else out.parent
        raise InputError(f"{out}: is a file of the run in {folder}: choose another file")
    check_no_input(out, inputs)
    if place.exists() and not overwrite:
        raise InputError(f"{out}: already exists: choose another file, or replace it with --overwrite")


def check_no_input(out: Path, inputs: Iterable[Path]) -> None:
    """Whether a file to be written is not read as well, by whatever name."""
    if any(_is_same(out, file) for file in inputs):
        raise InputError(f"{out}: is an input of this command: choose another file")


def check_run_folder(folder: Path, inputs: Sequence[Path], is_searched: bool) -> None:
    """Whether a run can be written there without harm to the inputs and to files of others."""
    from ncgnn.classifier.run_folder import RUN_FILES, check_writable
    from ncgnn.files import check_place
    from ncgnn.together import settled

    check_writable(folder)
    if not folder.exists():
        return
    with settled(folder):
        places = [folder / name for name in RUN_FILES]
    for place in places:
        check_place(place)
        if any(_is_same(place, file) for file in inputs):
            raise InputError(f"{folder}: the run would replace the input {place}: choose another --out")
    for name in ("checkpoint", *["search"] * is_searched):
        others = [path for path in _inside(folder / name) if not _UNFINISHED[name].fullmatch(path.name)]
        if others:
            raise InputError(f"{folder}: the {name} would remove {others[0]}: choose another --out")


def _inside(place: Path) -> list[Path]:
    """What is in a folder; the place itself if there is something else."""
    return sorted(place.iterdir()) if place.is_dir() else [place] * os.path.lexists(place)


def check_no_run(folder: Path) -> None:
    """Whether a run can be written there without replacing a run or files of the same names."""
    from ncgnn.classifier.run_folder import RUN_FILES, holds_run

    present = [name for name in RUN_FILES if os.path.lexists(folder / name)]
    if present:
        what = "a run" if holds_run(folder) else present[0]
        raise InputError(f"{folder}: already contains {what}: choose another --out, or replace it with --overwrite")


def starts_with(file: Path, text: str) -> bool:
    """Whether a file is there and begins like this: those that the same command wrote earlier do."""
    try:
        with file.open("rb") as opened:
            return opened.read(len(text.encode())) == text.encode()
    except OSError:
        return False


def _is_of_run(place: Path) -> bool:
    from ncgnn.classifier.run_folder import RUN_FILES, holds_run

    unfinished = _UNFINISHED.get(place.parent.name)
    is_unfinished = unfinished is not None and unfinished.fullmatch(place.name) is not None
    return is_unfinished or (place.name in RUN_FILES and holds_run(place.parent))


def _is_same(one: Path, other: Path) -> bool:
    """Whether two names are of one file, through links of both kinds."""
    try:
        return one.samefile(other)
    except OSError:  # one of them is not there
        return False


def given_path(text: str) -> Path:
    """The path that was typed; nothing would be the working folder."""
    if not text:
        raise typer.BadParameter("is empty: give a path")
    return Path(text)
