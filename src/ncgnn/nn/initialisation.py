"""Weight initialisation."""

import math
from typing import Literal

Init = Literal["uniform", "glorot"]


def start_bound(init: Init, inputs: int, outputs: int) -> float:
    """The bound of the uniform distribution of initial weights."""
    if init not in ("uniform", "glorot"):
        raise ValueError(f"init must be 'uniform' or 'glorot', not {init!r}")
    return 1 / math.sqrt(inputs) if init == "uniform" else math.sqrt(6 / (inputs + outputs))
