"""PyTorch Geometric's GCN in its usual form: the reference for speed and results."""

from pydantic import Field
from torch_geometric.nn.models import GCN

from ncgnn.models.base.model import Model, Sizes
from ncgnn.models.base.prepared import PreparedGraph
from ncgnn.models.base.settings import TrainingSettings
from ncgnn.train.inputs import Inputs


class PyGSettings(TrainingSettings):
    """The settings of PyG's GCN."""

    layers: int = Field(2, ge=1, le=64, description="number of layers")
    width: int = Field(64, ge=1, le=4096, description="size of all layers but the last")
    dropout: float = Field(0.5, ge=0, lt=1, description="dropout rate between layers")


class PyGModel(Model[PyGSettings]):
    """The normalised adjacency matrix is computed once."""

    name, title, settings_class = "pyg-gcn", "GCN (PyG)", PyGSettings
    measured = 3

    def prepare(self, graph: PreparedGraph, settings: PyGSettings) -> Inputs:
        return Inputs((graph.dense_features(settings.normalize_features), *graph.normalized_edges))

    def build(self, sizes: Sizes, settings: PyGSettings) -> GCN:
        return GCN(sizes.features, settings.width, settings.layers, sizes.classes, settings.dropout, normalize=False)


MODEL = PyGModel()
