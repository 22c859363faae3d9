"""Calibrated probabilities, and prediction sets with a chosen coverage."""

from ncgnn.calibration.calibration import Calibration
from ncgnn.calibration.error import calibration_error

__all__ = ["Calibration", "calibration_error"]
