"""How a trained model is named on the command line: its file, or the folder of its run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ncgnn.train import NCGNNClassifier

Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model.safetensors file or the run folder it is in.")]


def load_model(model: Path) -> "NCGNNClassifier":
    """The model in a file or in a run folder."""
    from ncgnn.train import NCGNNClassifier

    return NCGNNClassifier.load(model / "model.safetensors" if model.is_dir() else model)
