"""Search spaces of round numbers."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from optuna.trial import BaseTrial


def stepped(trial: "BaseTrial", name: str, low: float, high: float, step: float) -> float:
    """A multiple of ``step``."""
    return round(trial.suggest_float(name, low, high, step=step), 2)


def scaled(trial: "BaseTrial", name: str, low: float, high: float) -> float:
    """Two digits, uniform on a logarithmic scale."""
    return float(f"{trial.suggest_float(name, low, high, log=True):.2g}")
