"""GraphSAGE (Hamilton et al., 2017) as tuned by Luo et al. (2024)."""

from typing import ClassVar

from pydantic import Field

from ncgnn.models.base.classic import ClassicModel, ClassicSettings


class TunedSAGESettings(ClassicSettings):
    """The settings of a tuned GraphSAGE."""

    width: int = Field(256, ge=1, le=4096, description="size of each convolution")


class TunedSAGE(ClassicModel):
    """With the mean over a node and its neighbours."""

    name, title, settings_class = "tuned-sage", "tuned GraphSAGE", TunedSAGESettings
    is_mean: ClassVar[bool] = True


MODEL = TunedSAGE()
