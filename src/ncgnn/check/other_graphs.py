"""Find other graphs in the data folder with the same features and labels."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from ncgnn.check.view import Finding, View
from ncgnn.data.archive import FAULTS
from ncgnn.data.graph import merge_edges


def elsewhere_findings(view: View, folders: Iterable[Path]) -> list[Finding]:
    """Graphs in ``folders`` with the same features and labels but different edges: one of the two is wrong."""
    files = [file for folder in folders for file in sorted(folder.glob("*.npz"))]
    same = sorted({file.stem for file in files if _is_mixed_up(view, file)})
    if not same:
        return []
    return [
        Finding(
            name="features of another graph",
            level="serious",
            what=f"same features and labels as {same[0]!r}, but different edges",
            count=len(same),
            first=same,
            why="one of the two graphs was published with the wrong features and labels",
            advice="find out from the publisher which one is wrong; results on that graph are meaningless",
        )
    ]


def _is_mixed_up(view: View, file: Path) -> bool:
    if not file.is_file():  # a pipe may never end
        return False
    try:
        with file.open("rb") as opened, np.load(opened, allow_pickle=False) as arrays:
            shape = arrays["x"].shape if "x" in arrays else tuple(arrays["x_shape"])
            if shape != view.x.shape or not np.array_equal(arrays["labels"], view.y):
                return False
            return _has_features(view, arrays) and not np.array_equal(
                merge_edges(arrays["edges"], view.num_nodes)[0], _edges(view)
            )
    except (*FAULTS, IndexError, MemoryError):
        return False  # not a graph


def _has_features(view: View, arrays: Mapping[str, np.ndarray]) -> bool:
    if "x" in arrays:
        return np.array_equal(arrays["x"], view.x.toarray())
    return all(np.array_equal(arrays[f"x_{key}"], getattr(view.x, key)) for key in ("indptr", "indices", "data"))


def _edges(view: View) -> np.ndarray:
    return merge_edges(view.data.edge_index.numpy().T, view.num_nodes)[0]
