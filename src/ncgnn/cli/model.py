"""How a trained model is named on the command line: its file, or the folder of its run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ncgnn.errors import InputError

if TYPE_CHECKING:
    from ncgnn.train import NCGNNClassifier

Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model.safetensors file or the run folder it is in.")]


def load_model(model: Path) -> "NCGNNClassifier":
    """The model in a file or in a run folder."""
    from ncgnn.train import NCGNNClassifier

    if not model.is_dir():
        return NCGNNClassifier.load(model)
    inside = sorted(file.parent for file in model.glob("*/model.safetensors"))
    if inside and not (model / "model.safetensors").is_file():
        raise InputError(f"{model}: is no run itself: name one in it, as in {inside[0]}")
    return NCGNNClassifier.load(model / "model.safetensors")
