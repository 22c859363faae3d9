"""Hostile cases of every kind, each decided by its kind and its seed."""

from collections.abc import Callable
from pathlib import Path
from random import Random

from helpers.hostile import archives, folders, headers, mapped, runs, settings, stored, tabular, vectors, xml

Make = Callable[[Random, Path, Path], list[str]]

KINDS: dict[str, Make] = {
    "npz": archives.make,
    "parquet": tabular.make_parquet,
    "csv": tabular.make_csv,
    "graphml": xml.make,
    "toml": settings.make,
    "model": headers.make,
    "vectors": vectors.make,
    "ogb": folders.make,
    "run": runs.make,
    "stored": stored.make,
    "mapped": mapped.make,
}
"""How to write the files of a case into a folder, given one with sound files, and the command that meets them."""


def case(kind: str, seed: int, folder: Path, sound: Path) -> list[str]:
    return KINDS[kind](Random(f"{kind} {seed}"), folder, sound)
