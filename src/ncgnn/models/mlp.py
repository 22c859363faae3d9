"""MLP: uses only features."""

from dataclasses import dataclass
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn
from torch_geometric.data import Data

from ncgnn.models.base.layers import LayerSettings, LayerStack, layer_training
from ncgnn.models.base.model import Change, Fitted, Model, OnEpoch, Sizes
from ncgnn.models.base.prepared import PreparedGraph
from ncgnn.sparse import cheaper_operator
from ncgnn.train.inputs import Inputs
from ncgnn.train.loop import Training


class MLPSettings(LayerSettings):
    """The settings of an MLP, by default those of Zhu et al. (H2GCN), whose Keras counts the penalty twice: its 5e-4 is
    a weight decay of 1e-3."""

    model: Literal["mlp"] = Field("mlp", description="always mlp")
    weight_decay: float = Field(1e-3, ge=0, le=100, description="weight decay of the layers that decay names")
    epochs: int = Field(2000, ge=1, description="maximum number of epochs")
    patience: int = Field(200, ge=1, description="epochs in the window, or without improvement")


@dataclass(frozen=True)
class Rows(Inputs):
    """Features of all nodes, and the same as a tensor, to choose rows of."""

    x: Tensor


class MLP(Model[MLPSettings]):
    """Layers without the graph."""

    name, title, settings_class = "mlp", "MLP", MLPSettings
    knows = "features"
    takes_targets = False
    rival = 5

    def prepare(self, graph: PreparedGraph, settings: MLPSettings) -> Rows:
        divided = settings.normalize_features
        return Rows((graph.features(divided),), graph.x(divided))

    def build(self, sizes: Sizes, settings: MLPSettings) -> LayerStack:
        return LayerStack(sizes.features, sizes.classes, settings.layers, settings.width, settings.dropout)

    def training(self, module: nn.Module, settings: MLPSettings) -> Training:
        return layer_training(module, settings)

    def fit(
        self,
        inputs: Inputs,
        split: Data,
        settings: MLPSettings,
        on_epoch: OnEpoch = lambda epoch: None,
        change: Change = lambda how: how,
    ) -> Fitted:
        """Train on training and validation nodes only: nodes are independent, so the others would only cost time."""
        assert isinstance(inputs, Rows)
        known = known_nodes(inputs.x, split)
        return super().fit(Inputs((cheaper_operator(known.x),)), known, settings, on_epoch, change)

    def candidates(self) -> list[MLPSettings]:
        """The published settings, with row-normalised features, which suits words, and with unchanged features, which
        suits numbers; less regularisation of the former, and more of the latter."""
        weak, raw = {"dropout": 0.2, "weight_decay": 1e-5}, {"normalize_features": False}
        return [MLPSettings.make(values) for values in ({}, raw, weak, raw | {"weight_decay": 5e-3})]


def known_nodes(x: Tensor, split: Data) -> Data:
    """The training and validation nodes as a graph without edges."""
    nodes = (split.train_mask | split.val_mask).nonzero().squeeze(1)
    is_dense = x.layout == torch.strided
    rows = x[nodes] if is_dense else x.to_sparse_coo().index_select(0, nodes).to_sparse_csr()
    masks = {key: split[key][nodes] for key in ("train_mask", "val_mask")}
    return Data(x=rows, y=split.y[nodes], class_names=split.class_names, **masks)


MODEL = MLP()
