from pathlib import Path

import pandas as pd
import pytest

from ncgnn.cli.reproduce import INTRODUCTION
from ncgnn.errors import InputError
from ncgnn.experiments import figures
from ncgnn.experiments.figures.store import read_tables, write_tables

ROOT = Path(__file__).parents[3]


def test_tables_come_back_as_they_were_written(tmp_path):
    table = pd.DataFrame({"node": ["007", "NA"], "weight": [0.25, 1.5]})
    write_tables(tmp_path, "fig9", {"nodes": table})
    assert read_tables(tmp_path, "fig9", {"nodes": ("node", "weight")})["nodes"].equals(table)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "does not exist"),
        (b"node\n1\n", "no column 'weight'"),
        (b"node,weight\n", "no rows"),
        (b"", "not a table"),
        (b"node,weight\n\xff,1\n", "not a table"),
    ],
)
def test_a_table_that_is_missing_or_damaged_is_said_in_one_line(tmp_path, content, message):
    if content is not None:
        (tmp_path / "fig9-nodes.csv").write_bytes(content)
    with pytest.raises(InputError) as error:
        read_tables(tmp_path, "fig9", {"nodes": ("node", "weight")})
    assert message in str(error.value)
    assert "ncgnn reproduce fig9" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_figure_is_drawn_from_its_tables_alone_and_twice_the_same(quick, tmp_path, monkeypatch):
    one = figures.PaperFigure(
        "Figure 6",
        figures.fig6.COLUMNS,
        1,
        lambda done: figures.fig6.measure(done, ["karate"]),
        figures.fig6.draw,
        figures.fig6.caption,
    )
    monkeypatch.setitem(figures.FIGURES, "fig6", one)
    figures.measure("fig6", tmp_path / "tables")
    (picture,) = figures.report(["fig6"], tmp_path / "tables", tmp_path / "docs/page.md")
    assert picture == tmp_path / "docs/figures/fig6.png"
    page = (tmp_path / "docs/page.md").read_text()
    assert "![Figure 6](figures/fig6.png)" in page
    before = picture.read_bytes()
    figures.report([], tmp_path / "tables", tmp_path / "docs/page.md")
    assert picture.read_bytes() == before
    assert (tmp_path / "docs/page.md").read_text() == page


def test_the_page_of_the_documentation_is_that_of_the_results(tmp_path):
    pictures = figures.report([], ROOT / "results/figures", tmp_path / "figures.md", INTRODUCTION)
    assert (ROOT / "docs/figures.md").read_text("utf-8") == (tmp_path / "figures.md").read_text("utf-8")
    assert pictures
    assert all((ROOT / "docs/figures" / picture.name).is_file() for picture in pictures)
