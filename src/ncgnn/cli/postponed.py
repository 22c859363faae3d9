"""Modules that PyG imports at once and few commands need: loaded when first used.

A command then starts in half the time. Only the command line does so, in its own process.
"""

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from types import ModuleType

NAMES = frozenset({"torch._dynamo", "scipy.stats"})


class _Postponed:
    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target) if name in NAMES else None
        if spec is not None and spec.loader is not None:
            spec.loader = LazyLoader(spec.loader)
        return spec


def postpone() -> None:
    """From now on, load these modules when one of their names is asked for."""
    if _Postponed not in sys.meta_path:
        sys.meta_path.insert(0, _Postponed)
