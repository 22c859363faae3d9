"""The search space: the paper's ranges (section 4), and ranges for settings that the paper fixes.

A point is a dictionary of Optuna parameters. Most are settings of the same name; the set of hops, the prior of zeta and
the sparsification have separate parameters.
"""

from typing import TYPE_CHECKING, Any

from ncgnn.data.named.registry import ANY, FAR, NEAR, find_info
from ncgnn.models.base.settings import scaled, stepped
from ncgnn.models.ncgnn.config import Config

if TYPE_CHECKING:
    from optuna.trial import BaseTrial

_HOP_ZERO = 2.0  # initial zeta of a favoured hop: 71 % of the weight among four hops
_SPARSIFY: dict[str, dict[str, Any]] = {
    "none": {},
    "top 64": {"top_k": 64},
    "top 128": {"top_k": 128},
    "top 256": {"top_k": 256},
    "epsilon 1e-4": {"epsilon": 1e-4},
}


def suggest(trial: "BaseTrial", graph: str, filter: str) -> dict[str, Any]:
    """Settings of NCGNN for a named or an unknown graph, valid for :class:`~ncgnn.Config`."""
    of_filter = _attention(trial, _max_hop(graph)) if filter == "attention" else _diffusion(trial, _steps(graph))
    return {"filter": filter} | of_filter | _capsules(trial) | _training(trial)


def parameters(config: Config) -> dict[str, Any]:
    """The inverse of :func:`suggest`: the point that represents a configuration."""
    plain = config.model_dump()
    if config.filter == "attention":
        prior = config.zeta_prior or [0.0]
        special = {"first_hop": int(0 not in config.hop_set), "prior": "hop 0" if any(prior) else "equal"}
        names = ["zeta_lr"]
    else:
        special = {"sparsify": _sparsify_name(config)}
        names = ["alpha"]
    names += ["num_capsules", "primary_channels", "iterations", "beta", "dropout", "init", "m_plus", "m_minus"]
    return special | {name: plain[name] for name in (*names, "lr", "weight_decay", "normalize_features")}


def _max_hop(graph: str) -> int:
    if graph == ANY:
        return NEAR
    info = find_info(graph)
    return FAR if info is None else info.max_hop


def _steps(graph: str) -> int | None:
    info = find_info(graph)
    return None if info is None else info.pagerank_steps


def _attention(trial: "BaseTrial", last: int) -> dict[str, Any]:
    first = trial.suggest_categorical("first_hop", (0, 1))
    favoured = first == 0 and trial.suggest_categorical("prior", ("equal", "hop 0")) == "hop 0"
    return {
        "hops": last if first == 1 else list(range(last + 1)),
        "zeta_prior": [_HOP_ZERO] + [0.0] * last if favoured else None,
        "zeta_lr": scaled(trial, "zeta_lr", 1e-3, 0.2),
    }


def _diffusion(trial: "BaseTrial", steps: int | None) -> dict[str, Any]:
    alpha = stepped(trial, "alpha", 0.05, 0.3, 0.05)
    sparsify = _SPARSIFY[trial.suggest_categorical("sparsify", tuple(_SPARSIFY))]
    return {"alpha": alpha, "steps": steps} | sparsify


def _capsules(trial: "BaseTrial") -> dict[str, Any]:
    return {
        "num_capsules": trial.suggest_int("num_capsules", 4, 10, step=2),
        "primary_channels": trial.suggest_int("primary_channels", 32, 64, step=32),
        "iterations": trial.suggest_int("iterations", 2, 5),
        "beta": scaled(trial, "beta", 1.0, 20.0),
        "dropout": stepped(trial, "dropout", 0.0, 0.9, 0.1),
        "init": trial.suggest_categorical("init", ("uniform", "glorot")),
    }


def _training(trial: "BaseTrial") -> dict[str, Any]:
    return {
        "m_plus": stepped(trial, "m_plus", 0.7, 0.95, 0.05),
        "m_minus": stepped(trial, "m_minus", 0.05, 0.3, 0.05),
        "lr": scaled(trial, "lr", 5e-4, 0.02),
        "weight_decay": scaled(trial, "weight_decay", 1e-5, 5e-2),
        "normalize_features": trial.suggest_categorical("normalize_features", (False, True)),
    }


def _sparsify_name(config: Config) -> str:
    kept = {key: value for key in ("top_k", "epsilon") if (value := getattr(config, key)) is not None}
    return next((name for name, values in _SPARSIFY.items() if values == kept), "none")
