"""The training loop, stopping rules, objectives and optimiser, independent of the model."""

from ncgnn.train.epoch import Diverged, Epoch, accuracy
from ncgnn.train.inputs import Inputs

__all__ = ["Diverged", "Epoch", "Inputs", "accuracy"]
