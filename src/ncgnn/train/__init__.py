"""Training: configuration, one run, the classifier, its files."""

from ncgnn.classifier.estimator import NCGNNClassifier
from ncgnn.classifier.node_estimator import NodeEstimator
from ncgnn.models.base.features import prepare_features
from ncgnn.models.ncgnn.config import Config, preset
from ncgnn.train.epoch import Epoch, accuracy
from ncgnn.train.run import Fit, fit

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
