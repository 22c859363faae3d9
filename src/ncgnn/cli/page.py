"""``ncgnn explain --page``: one file to pass on."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ncgnn.cli import graph as g
from ncgnn.cli.terminal import refuse
from ncgnn.errors import InputError

if TYPE_CHECKING:
    from ncgnn.explain import GraphExplainer


def check_page(page: Path, others: Mapping[str, object]) -> None:
    """Whether it is called a page, and whether options were given that it has no use for."""
    if page.suffix not in (".html", ".htm"):
        example = page.parent / f"{page.stem.strip('.') or 'page'}.html"
        raise InputError(f"{page}: a page is an HTML file, e.g. {example}")
    refuse(others, "--page always explains the predicted class in a fixed layout")


def make_page(page: Path, explainer: "GraphExplainer", nodes: list[str] | None) -> None:
    """Write the page of a model and its graph, and say where it is."""
    from ncgnn.cli.progress import track
    from ncgnn.page import write_page

    with g.notices():
        write_page(page, explainer, nodes, lambda views, total: track(views, "explaining", total))
    print(f"{page}: {page.stat().st_size / 1e6:.1f} MB; open it in a browser")
