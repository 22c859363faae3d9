"""How a trained model is named on the command line: its file, or the folder of its run."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ncgnn.cli.settings import choose_model, code_files
from ncgnn.errors import InputError

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from ncgnn.classifier import NodeClassifier
    from ncgnn.classifier.run_folder import SplitOfRun

Model = Annotated[Path, typer.Argument(metavar="MODEL", help="Run folder, or its model.safetensors file.")]

ModelClass = Annotated[
    str | None,
    typer.Option(
        metavar="package.module:Name",
        help="Model class to load if you trained your own model. Imports and runs its code.",
    ),
]


def load_model(model: Path, model_class: str | None = None) -> "NodeClassifier":
    """The model in a file or in a run folder."""
    return _load(model, model_class)[0]


def load_run(model: Path, model_class: str | None = None) -> "tuple[NodeClassifier, SplitOfRun | None]":
    """The model, and the split that it was trained on if its folder tells it: both of the same run."""
    return _load(model, model_class, with_split=True)


def with_split(data: "Data", split: "SplitOfRun | None") -> "Data":
    return data if split is None else split.on(data)


def model_file(model: Path) -> Path:
    return model / "model.safetensors" if model.is_dir() else model


def model_files(model: Path, model_class: str | None) -> Iterator[Path]:
    """Every file that the model is read from."""
    from ncgnn.classifier.run_folder import RUN_FILES, run_of

    yield model
    yield from (run_of(model) / name for name in RUN_FILES)
    yield from code_files(model_class or "")


def _load(model: Path, model_class: str | None, with_split: bool = False) -> "tuple[NodeClassifier, SplitOfRun | None]":
    from ncgnn.classifier import NodeClassifier
    from ncgnn.classifier.run_folder import read_split, run_of
    from ncgnn.together import settled

    if model_class is not None:
        choose_model(model_class)
    if not run_of(model).is_dir():
        raise InputError(f"{model}: no such model file")
    inside = sorted(file.parent for file in model.glob("*/model.safetensors"))
    if inside and not (model / "model.safetensors").is_file():
        raise InputError(f"{model}: is not a run folder; did you mean {inside[0]}?")
    with settled(run_of(model)):
        return NodeClassifier.load(model), read_split(model) if with_split else None
