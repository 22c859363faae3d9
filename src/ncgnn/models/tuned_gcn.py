"""GCN as tuned by Luo et al. (2024)."""

from ncgnn.models.base.classic import ClassicModel, ClassicSettings


class TunedGCNSettings(ClassicSettings):
    """The settings of a tuned GCN."""


class TunedGCN(ClassicModel):
    """With :math:`\\tilde{\\mathbf{A}}`."""

    name, title, settings_class = "tuned-gcn", "tuned GCN", TunedGCNSettings


MODEL = TunedGCN()
