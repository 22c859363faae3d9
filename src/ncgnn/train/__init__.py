"""Training: configuration, one run, the classifier, its files."""

from ncgnn.train.classifier import NCGNNClassifier
from ncgnn.train.config import Config, preset
from ncgnn.train.epoch import Epoch, accuracy
from ncgnn.train.nodes import NodeEstimator
from ncgnn.train.run import Fit, fit, prepare_features

__all__ = [
    "Config",
    "Epoch",
    "Fit",
    "NCGNNClassifier",
    "NodeEstimator",
    "accuracy",
    "fit",
    "prepare_features",
    "preset",
]
