"""Whether a graph is trained on the full batch or in batches."""

from math import isnan
from typing import Any

from torch_geometric.data import Data

from ncgnn.check.hops import affordable_hops
from ncgnn.errors import InputError
from ncgnn.memory import available_bytes
from ncgnn.models import RunSettings
from ncgnn.models.ncgnn import MODEL, Config
from ncgnn.train.processes import is_shared

TARGETS = 512
"""Target nodes per batch where the full batch does not fit."""

TOP_K = 32
"""Entries per row of the filter, for settings that do not sparsify it."""

_DIGITS = 20  # Python reads no number of thousands of digits

SHARE = 0.5
"""Of the free memory that the full batch may take."""


def with_batch(settings: RunSettings, data: Data, asked: str) -> tuple[RunSettings, str]:
    """The settings for ``asked``, which is ``auto``, ``full`` or a number of target nodes, and why, in a sentence; only
    NCGNN is trained in batches."""
    is_number = asked.isdecimal() and len(asked) < _DIGITS and int(asked) > 0
    if asked not in ("auto", "full") and not is_number:
        raise InputError(f"{asked!r} is not auto, full or a number of nodes", "batch")
    if not isinstance(settings, Config):
        if is_shared():
            raise InputError(
                "only NCGNN is trained by several processes: choose it, or start without torchrun", "model"
            )
        if is_number:
            raise InputError("only NCGNN is trained in batches: choose it, or the full batch", "batch")
        return settings, ""
    if asked == "full" and is_shared():
        raise InputError("several processes share batches: give a number, or start without torchrun", "batch")
    if asked == "full":
        return Config.make(settings.model_dump() | {"batch": None}), "full batch, as asked"
    if asked != "auto":
        return in_batches(settings, data, int(asked), "as asked")
    if settings.batch is not None:
        return settings, f"batches of {settings.batch} target nodes, as the settings say"
    if is_shared():
        return in_batches(settings, data, TARGETS, "which several processes share")
    return _chosen(settings, data)


def _chosen(settings: Config, data: Data) -> tuple[Config, str]:
    needed, free = MODEL.memory(data, settings) / 2**20, available_bytes() / 2**20
    memory = f"which takes about {max(1, round(needed))} MB"
    if isnan(free) or needed <= SHARE * free:
        return settings, f"full batch, {memory}"
    why = f"since the full batch, {memory}, does not fit into half of the {round(free)} MB that are free"
    return in_batches(settings, data, TARGETS, why)


def in_batches(settings: Config, data: Data, size: int, why: str) -> tuple[Config, str]:
    """The settings for batches, and why. Where they say nothing of it, rows of the filter are cut so that all of them
    can be computed and stored."""
    changes: dict[str, Any] = {"batch": size}
    told = ""
    if settings.sparsify() is None:
        changes["top_k"] = TOP_K
        told = f"; the filter keeps the {TOP_K} largest entries of each row (top_k)"
        hops = _affordable(settings, data) if settings.filter == "attention" else settings.hop_set
        if hops != settings.hop_set:
            changes |= {"hops": hops, "zeta_prior": None}
            told += f", up to {max(hops)} hops, because more would take too long to compute (hops)"
    return Config.make(settings.model_dump() | changes), f"batches of {size} target nodes, {why}{told}"


def _affordable(settings: Config, data: Data) -> list[int]:
    hops = affordable_hops(data, settings.hop_set)
    if not hops:
        raise InputError("these hops would take too long to compute in batches: add 0 or 1, or set top_k", "top_k")
    return hops
