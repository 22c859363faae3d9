"""The page that shows the figures."""

from collections.abc import Sequence
from pathlib import Path

from ncgnn.files import atomic

_HEAD = (
    "# Figures\n\nThe paper's figures about what the model learns, made by\n\n"
    "```\nncgnn reproduce fig3 fig5 fig6 --markdown docs/figures.md\n```\n\n"
    "The models have the presets of their graphs, split 0 and seed 0, and are trained on one thread without the test "
    "labels. The numbers behind each figure are CSV files in `results/figures`, of which `-runs.csv` says with which "
    "settings and versions. With `--report-only` the figures are drawn from these files, and nothing is trained.\n"
)


def write_page(page: Path, shown: Sequence[tuple[str, str, Path]]) -> None:
    """A title, a caption and a picture for each figure."""
    parts = [_HEAD, *(_section(title, caption, picture, page.parent) for title, caption, picture in shown)]
    page.parent.mkdir(parents=True, exist_ok=True)
    with atomic(page) as file:
        file.write("\n".join(parts))


def _section(title: str, caption: str, picture: Path, folder: Path) -> str:
    return f"## {title}\n\n![{title}]({picture.relative_to(folder).as_posix()})\n\n{caption}\n"
