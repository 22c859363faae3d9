"""GCN (Kipf and Welling, 2017) with the library's own sparse products."""

from typing import TYPE_CHECKING, Any, Literal, cast

from pydantic import Field
from torch import Tensor, nn

from ncgnn.data.named.registry import find_info, usual_rule
from ncgnn.models.base.layers import LayerSettings, LayerStack, layer_training
from ncgnn.models.base.model import Model, Sizes
from ncgnn.models.base.prepared import PreparedGraph
from ncgnn.models.base.settings import scaled, stepped
from ncgnn.train.inputs import Inputs
from ncgnn.train.loop import Training

if TYPE_CHECKING:
    from optuna.trial import BaseTrial


class GCNSettings(LayerSettings):
    """The settings of a GCN."""

    model: Literal["gcn"] = Field("gcn", description="always gcn")


_KIPF = {"width": 16, "weight_decay": 5e-4, "decay": "first", "epochs": 200, "stop": "window", "patience": 10}
_WIDER = {"width": 64, "epochs": 2000, "patience": 100}
_BEST_WEIGHTS = {"stop": "patience", "patience": 100}
_RAW = {"normalize_features": False, "decay": "first", "patience": 50}

# where a search on a family of graphs begins
_FOUND: dict[str, list[dict[str, Any]]] = {
    "co-purchase": [
        _RAW | {"width": 128, "dropout": 0.7, "lr": 1.6e-3, "weight_decay": 9.5e-5},
        _RAW | {"width": 128, "dropout": 0.5, "lr": 2.5e-3, "weight_decay": 1.8e-5},
        _RAW | {"width": 32, "dropout": 0.3, "lr": 2.2e-3, "weight_decay": 7.2e-4},
    ]
}
_SEARCHED = ("layers", "width", "dropout", "lr", "weight_decay", "decay", "patience", "normalize_features")


class GCN(Model[GCNSettings]):
    """Graph convolutions without biases, as in the published code."""

    name, title, settings_class = "gcn", "GCN", GCNSettings
    rival = 7
    in_search = True
    depth = "layers"

    def prepare(self, graph: PreparedGraph, settings: GCNSettings) -> Inputs:
        return Inputs((graph.features(settings.normalize_features), graph.adjacency))

    def build(self, sizes: Sizes, settings: GCNSettings) -> LayerStack:
        return LayerStack(sizes.features, sizes.classes, settings.layers, settings.width, settings.dropout)

    def training(self, module: nn.Module, settings: GCNSettings) -> Training:
        return layer_training(module, settings)

    def hidden(self, module: nn.Module, inputs: Inputs) -> Tensor:
        x, a = inputs.arguments
        hidden: Tensor = (a @ (x @ cast(LayerStack, module).weights[0].detach())).relu()
        return hidden

    def candidates(self) -> list[GCNSettings]:
        """The wider of the two published settings, which suits any graph, with row-normalised features, which suits
        words, and with unchanged features, which suits numbers."""
        wide = self.published("")
        return [wide.model_copy(update={"normalize_features": divided}) for divided in (True, False)]

    def published(self, graph: str, hops: int | None = None) -> GCNSettings:
        """Kipf and Welling's settings; on graphs with published splits, the wider ones reported by Zhu et al. (H2GCN).

        The stopping rule is for two layers. The window of ten epochs stops deeper GCNs before they learn (Cora, five
        layers: 56 %), so other depths keep their best weights, with a patience of 100.
        """
        is_kipfs = usual_rule(graph) in ("20 per class", "25/25/50")
        layers = hops or 2
        other_depth = {} if layers == 2 else _BEST_WEIGHTS
        return GCNSettings.make(_KIPF | {"layers": layers} | other_depth | ({} if is_kipfs else _WIDER))

    def space(self, trial: "BaseTrial", graph: str, variant: str = "") -> dict[str, Any]:
        return {
            "layers": trial.suggest_int("layers", 2, 3),
            "width": trial.suggest_categorical("width", (16, 32, 64, 128)),
            "dropout": stepped(trial, "dropout", 0.0, 0.9, 0.1),
            "lr": scaled(trial, "lr", 1e-3, 0.05),
            "weight_decay": scaled(trial, "weight_decay", 1e-5, 1e-2),
            "decay": trial.suggest_categorical("decay", ("first", "all")),
            "patience": trial.suggest_categorical("patience", (50, 100, 200)),
            "normalize_features": trial.suggest_categorical("normalize_features", (False, True)),
        }

    def points(self, graph: str, variant: str = "") -> list[dict[str, Any]]:
        """The best settings on graphs of the same family, the default, and the published settings, within the search
        space."""
        info = find_info(graph)
        found = [GCNSettings.make(values) for values in _FOUND.get("" if info is None else info.family, [])]
        published = self.published(graph).model_copy(update={"patience": 100})
        return [settings.model_dump(include=set(_SEARCHED)) for settings in (*found, GCNSettings.make({}), published)]


MODEL = GCN()
