"""The settings of NCGNN on the graphs of the benchmarks."""

from ncgnn.data.generated.unstructured import GENERATED
from ncgnn.data.named.registry import FAR, NEAREST, find_info
from ncgnn.models.ncgnn.config import Config

_PAPER = {"num_capsules": 8, "primary_channels": 64, "iterations": 3, "beta": 1.0, "dropout": 0.9}


def hops_of(name: str) -> int:
    """The attention filter takes the hops from 1 to this; fewer on the graphs that are larger or denser."""
    if name == GENERATED:
        return NEAREST
    info = find_info(name)
    return FAR if info is None else info.measured_hops


def measured(hops: int, **others: int) -> Config:
    """The settings that are measured, which are the paper's, whatever the defaults are."""
    return Config.make(_PAPER | {"hops": hops} | others)
