"""The settings of the control models: those of their papers, and those searched on validation."""

import tomllib
from importlib import resources
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ncgnn.data.named.registry import usual_rule
from ncgnn.models.base.settings import RunSettings
from ncgnn.train.stopping import Patience, Stopping, Window

Count = Annotated[int, Field(ge=1)]


class Settings(RunSettings):
    """Everything that decides a run of a GCN or an MLP besides the data."""

    identity: ClassVar[str] = "Settings"
    # fmt: off
    always_counted: ClassVar[frozenset[str]] = frozenset({  # the fields of the first release
        "model", "layers", "width", "dropout", "lr", "weight_decay", "decay", "epochs", "stop", "patience",
        "normalize_features",
    })
    # fmt: on

    model: Literal["gcn", "mlp"] = Field("gcn", description="with the graph or without")
    layers: Annotated[int, Field(ge=1, le=64)] = Field(2, description="layers, the last one linear")
    width: Annotated[int, Field(ge=1, le=4096)] = Field(64, description="size of all layers but the last")
    dropout: float = Field(0.5, ge=0, lt=1, description="on the input of each layer")
    lr: float = Field(0.01, gt=0, le=100, description="learning rate")
    weight_decay: float = Field(5e-4, ge=0, le=100, description="of the weights that decay names")
    decay: Literal["first", "all"] = Field("all", description="which layers have weight decay")
    epochs: Count = Field(1000, description="most epochs")
    stop: Literal["window", "patience"] = Field(
        "patience",
        description="window: when the validation loss is above its mean over the last epochs, with the last weights; "
        "patience: after so many epochs without a better validation result, with the best weights",
    )
    patience: Count = Field(100, description="epochs in the window, or without a better result")
    normalize_features: bool = Field(True, description="divide each feature row by the sum of its magnitudes")
    seed: Annotated[int, Field(ge=0, lt=2**63)] = Field(0, description="of weights and dropout")

    @property
    def stopping(self) -> Stopping:
        return (Window if self.stop == "window" else Patience)(self.patience)


_KIPF = {"width": 16, "weight_decay": 5e-4, "decay": "first", "epochs": 200, "stop": "window", "patience": 10}
_WIDER = {"width": 64, "epochs": 2000, "patience": 100}
_BEST_WEIGHTS = {"stop": "patience", "patience": 100}


def published_gcn(graph: str, layers: int = 2) -> Settings:
    """Kipf and Welling's GCN; on graphs with published splits the wider one that Zhu et al. (H2GCN) report there.

    Their rule to stop is for two layers. A deeper GCN has hardly begun to learn when the window of ten epochs ends it
    (Cora, five layers: 56 %), so other depths keep their best weights, with a patience of 100.
    """
    is_kipfs = usual_rule(graph) in ("20 per class", "25/25/50")
    other_depth = {} if layers == 2 else _BEST_WEIGHTS
    return Settings.make(_KIPF | {"layers": layers} | other_depth | ({} if is_kipfs else _WIDER))


def published_mlp() -> Settings:
    """Zhu et al.'s MLP. Keras counts the penalty twice: its 5e-4 is a weight decay of 1e-3."""
    return Settings.make({"model": "mlp", "weight_decay": 1e-3, "decay": "all", "epochs": 2000, "patience": 200})


def tuned_preset(graph: str) -> Path:
    """Where the searched settings of a GCN for this graph lie, if there are any; one file for all Syn-Cora graphs."""
    family = graph.partition(":")[0]
    return Path(str(resources.files("ncgnn.baselines") / "presets" / "gcn-tuned" / f"{family}.toml"))


def tuned_gcn(graph: str) -> Settings | None:
    """The GCN whose settings were searched for this graph as NCGNN's were; None where nobody has searched yet."""
    file = tuned_preset(graph)
    if not file.is_file():
        return None
    return Settings.make({"model": "gcn"} | tomllib.loads(file.read_text("utf-8")), where=str(file))
