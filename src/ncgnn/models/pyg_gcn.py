"""PyTorch Geometric's GCN in its usual form: the reference for speed and results."""

from pydantic import Field
from torch_geometric.nn.models import GCN

from ncgnn.models.base.model import OnNormalizedEdges, Sizes
from ncgnn.models.base.settings import TrainingSettings


class PyGSettings(TrainingSettings):
    """The settings of PyG's GCN."""

    layers: int = Field(2, ge=1, le=64, description="number of layers")
    width: int = Field(64, ge=1, le=4096, description="size of all layers but the last")
    dropout: float = Field(0.5, ge=0, lt=1, description="dropout rate between layers")


class PyGModel(OnNormalizedEdges[PyGSettings]):
    """Two layers by default."""

    name, title, settings_class = "pyg-gcn", "GCN (PyG)", PyGSettings
    measured = 3

    def build(self, sizes: Sizes, settings: PyGSettings) -> GCN:
        return GCN(sizes.features, settings.width, settings.layers, sizes.classes, settings.dropout, normalize=False)


MODEL = PyGModel()
