"""Trained models with scikit-learn's manners, their files and run folders."""

from ncgnn.classifier.estimator import NodeClassifier
from ncgnn.classifier.ncgnn_classifier import NCGNNClassifier
from ncgnn.classifier.node_estimator import NodeEstimator

__all__ = ["NCGNNClassifier", "NodeClassifier", "NodeEstimator"]
