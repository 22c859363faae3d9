"""The page that shows the figures."""

from collections.abc import Sequence
from pathlib import Path

from ncgnn.files import atomic


def write_page(page: Path, introduction: str, shown: Sequence[tuple[str, str, Path]]) -> None:
    """Write a title, a caption and a picture per figure."""
    sections = (_section(title, caption, picture, page.parent) for title, caption, picture in shown)
    page.parent.mkdir(parents=True, exist_ok=True)
    with atomic(page) as file:
        file.write("\n".join([f"# Figures\n\n{introduction}\n", *sections]))


def _section(title: str, caption: str, picture: Path, folder: Path) -> str:
    return f"## {title}\n\n![{title}]({picture.relative_to(folder).as_posix()})\n\n{caption}\n"
