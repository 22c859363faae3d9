"""Where weights start."""

import math
from typing import Literal

Init = Literal["uniform", "glorot"]


def start_bound(init: Init, inputs: int, outputs: int) -> float:
    """Weights start uniformly between minus this and this."""
    if init not in ("uniform", "glorot"):
        raise ValueError(f"init must be 'uniform' or 'glorot', not {init!r}")
    return 1 / math.sqrt(inputs) if init == "uniform" else math.sqrt(6 / (inputs + outputs))
