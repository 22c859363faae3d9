"""How a trained model is named on the command line: its file, or the folder of its run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ncgnn.cli.settings import choose_model
from ncgnn.errors import InputError

if TYPE_CHECKING:
    from ncgnn.classifier import NodeClassifier

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
    from ncgnn.classifier import NodeClassifier

    if model_class is not None:
        choose_model(model_class)
    if not model.is_dir():
        return NodeClassifier.load(model)
    inside = sorted(file.parent for file in model.glob("*/model.safetensors"))
    if inside and not (model / "model.safetensors").is_file():
        raise InputError(f"{model}: is not a run folder; did you mean {inside[0]}?")
    return NodeClassifier.load(model / "model.safetensors")
