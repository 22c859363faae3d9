"""How a trained model is named on the command line: its file, or the folder of its run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ncgnn.errors import InputError

if TYPE_CHECKING:
    from ncgnn.classifier import NCGNNClassifier

Model = Annotated[Path, typer.Argument(metavar="MODEL", help="Run folder, or its model.safetensors file.")]


def load_model(model: Path) -> "NCGNNClassifier":
    """The model in a file or in a run folder."""
    from ncgnn.classifier import NCGNNClassifier

    if not model.is_dir():
        return NCGNNClassifier.load(model)
    inside = sorted(file.parent for file in model.glob("*/model.safetensors"))
    if inside and not (model / "model.safetensors").is_file():
        raise InputError(f"{model}: is not a run folder; did you mean {inside[0]}?")
    return NCGNNClassifier.load(model / "model.safetensors")
