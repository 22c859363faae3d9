"""The paper's figures of what the model learns: data are measured, stored as tables and drawn."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ncgnn.drawing import save
from ncgnn.experiments.figures import fig3, fig5, fig6
from ncgnn.experiments.figures.store import Columns, Tables, has_tables, read_tables, write_page, write_tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FIGURES", "PaperFigure", "measure", "report"]

_SUBJECT = "The paper's figures of what the model learns."


@dataclass(frozen=True)
class PaperFigure:
    """A figure of the paper.

    Attributes:
        title: what it shows.
        columns: its tables, and the columns that are drawn.
        steps: number of times ``measure`` calls its argument.
        measure: trains the models and returns the tables.
        draw: draws the tables.
        caption: describes the figure in words.
    """

    title: str
    columns: Columns
    steps: int
    measure: Callable[[Callable[[], None]], Tables]
    draw: "Callable[[Tables], Figure]"
    caption: Callable[[Tables], str]


FIGURES = {
    "fig3": PaperFigure(
        "Figure 3: t-SNE maps",
        fig3.COLUMNS,
        fig3.STEPS,
        fig3.measure,
        fig3.draw,
        fig3.caption,
    ),
    "fig5": PaperFigure(
        "Figure 5: receptive field of a node",
        fig5.COLUMNS,
        fig5.STEPS,
        fig5.measure,
        fig5.draw,
        fig5.caption,
    ),
    "fig6": PaperFigure(
        "Figure 6: couplings of capsules and classes",
        fig6.COLUMNS,
        fig6.STEPS,
        fig6.measure,
        fig6.draw,
        fig6.caption,
    ),
}


def measure(name: str, folder: Path, done: Callable[[], None] = lambda: None) -> None:
    """Train the models of a figure on one thread and write its tables."""
    from ncgnn.train.reproducible import use_threads

    with use_threads(1):
        tables = FIGURES[name].measure(done)
    write_tables(folder, name, tables)


def report(names: list[str], folder: Path, page: Path, introduction: str = _SUBJECT) -> list[Path]:
    """Draw these figures, and all others with tables in the folder, and write a page that shows them."""
    shown = {}
    for name, figure in FIGURES.items():
        if name in names or has_tables(folder, name, figure.columns):
            shown[name] = read_tables(folder, name, figure.columns)
    pictures = [page.parent / "figures" / f"{name}.png" for name in shown]
    for (name, tables), picture in zip(shown.items(), pictures, strict=True):
        save(FIGURES[name].draw(tables), picture)
    texts = [(FIGURES[name].title, FIGURES[name].caption(tables)) for name, tables in shown.items()]
    write_page(page, introduction, [(*text, picture) for text, picture in zip(texts, pictures, strict=True)])
    return pictures
