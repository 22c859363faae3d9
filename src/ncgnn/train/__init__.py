"""The training loop: stopping rules, objectives, optimiser. It knows no model."""

from ncgnn.train.epoch import Diverged, Epoch, accuracy
from ncgnn.train.inputs import Inputs

__all__ = ["Diverged", "Epoch", "Inputs", "accuracy"]
