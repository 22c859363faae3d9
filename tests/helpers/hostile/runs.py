"""Hostile run folders: what they remember of their graph, and the split."""

import json
import shutil
from pathlib import Path
from random import Random
from typing import Any

from helpers.hostile.odd import ODD_NAMES, damaged
from helpers.hostile.sound import CHEAP

_VALUES: tuple[Any, ...] = (
    *(None, True, 0, -1, 10**21, float("nan"), "", "x", "..", "/", "/dev/zero", "karate", "own.npz", [], [1], {}),
    *({"a": "b"}, ["../cites.csv"], ["../cites.csv"] * 2, "../nodes.csv", "../cites.csv", *ODD_NAMES, "x" * 50_000),
)
_GRAPH = ["--nodes", "nodes.csv", "--edges", "cites.csv", "--edges", "likes.csv"]
_TRAIN = ["train", *_GRAPH, "--label", "topic", *CHEAP, "--out", "made"]


def make(drawn: Random, folder: Path, sound: Path) -> list[str]:
    shutil.copytree(sound / "own", folder, dirs_exist_ok=True)
    command = drawn.choice(_COMMANDS)
    place = folder / command[-1]
    (folder / "run").rename(place)
    run = json.loads((place / "run.json").read_text()) | {"command": command}
    for _ in range(drawn.randint(1, 3)):
        _change(drawn, drawn.choice((run, run["source"], run["source"], run["graph"], run["metrics"])))
    (place / "run.json").write_text(json.dumps(run))
    file = place / drawn.choice(("run.json", "predictions.csv", "predictions.csv", "report.md"))
    if drawn.random() < 0.3 and file.exists():
        file.write_bytes(damaged(drawn, file.read_bytes()))
    return command[:-1] if command[0] == "explain" else command


def _change(drawn: Random, place: Any) -> None:
    if isinstance(place, dict):
        key = drawn.choice((*sorted(place), drawn.choice(ODD_NAMES), "comparison"))
        place[key] = drawn.choice(_VALUES)


_COMMANDS = (
    ["predict", "run"],
    ["explain", "run", "--node", "n1", "--what-if", "run"],
    ["serve", "--port", "0", "run"],
    ["predict", *_GRAPH, "run"],
    _TRAIN,
    [*_TRAIN[:-2], "--compare", "--out", "made"],
)
"""The last argument is the run folder."""
