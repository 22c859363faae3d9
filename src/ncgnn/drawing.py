"""What the drawings have in common."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ncgnn.files import atomic

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.text import Text


def new_figure(width: float, height: float) -> "Figure":
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def save(figure: "Figure", path: Path, dpi: int = 100) -> None:
    """As a PNG file that is the same for the same numbers."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic(path, "wb") as file:
        figure.savefig(file, format="png", dpi=dpi, metadata={"Software": None}, pil_kwargs={"optimize": True})


def class_colors(classes: Sequence[str]) -> dict[str, Any]:
    """Colours that people who see fewer of them can tell apart too."""
    from matplotlib import color_sequences

    known = color_sequences["petroff10"]
    return {name: known[i % len(known)] for i, name in enumerate(classes)}


def in_order(names: Iterable[str]) -> list[str]:
    """Class names, each once; numbers by size."""
    return sorted(set(names), key=lambda name: (not name.isdigit(), int(name) if name.isdigit() else 0, name))


def plain(texts: "Iterable[Text]") -> None:
    """A dollar in a name is a dollar."""
    for text in texts:
        text.set_parse_math(False)


def plane(vectors: np.ndarray) -> np.ndarray:
    """A t-SNE map [n, 2] of vectors [n, f]; too few to be arranged are put in a row."""
    from sklearn.manifold import TSNE

    if len(vectors) < 4:
        return np.column_stack([np.zeros(len(vectors)), np.arange(len(vectors))])
    # the principal components, from which it starts otherwise, need two directions
    start = "pca" if vectors.shape[1] > 1 and np.ptp(vectors, axis=0).any() else "random"
    map = TSNE(perplexity=min(30.0, (len(vectors) - 1) / 3), init=start, random_state=0)
    points: np.ndarray = map.fit_transform(vectors)
    return points
