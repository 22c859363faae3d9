"""The answer on the page, in a real browser: what is seen first, and what ticking a reason off changes."""

import re
from pathlib import Path

import numpy as np
import pytest

from helpers.browser import PHONE
from ncgnn.classifier import NCGNNClassifier
from ncgnn.data import read_graph, usual_split
from ncgnn.data.generated.shop import shop_tables
from ncgnn.explain import GraphExplainer
from ncgnn.page import write_page

pytestmark = pytest.mark.long

DOCS = Path(__file__).parents[2] / "docs"


def test_the_answer_is_above_the_fold_and_the_method_below_it(visit, address):
    for viewport in ({"width": 1400, "height": 900}, PHONE):
        page = visit(f"{address}#node=33", viewport)
        box = page.locator(".words").bounding_box()
        assert box["y"] + box["height"] < viewport["height"] / 2
        shown = page.locator("main:visible").inner_text().split("Nodes that contribute most")[0]
        assert not re.search(r"\b(hops?|couplings?|capsules?|routing|squashing|bias)\b", shown, re.IGNORECASE)
        assert not page.locator("#node details").get_attribute("open")


@pytest.fixture(scope="module")
def shop_page(tmp_path_factory) -> str:
    """The example shop, a third of whose products have no department."""
    folder = tmp_path_factory.mktemp("shop")
    for name, table in shop_tables().items():
        table.to_csv(folder / name, index=False)
    tables = [folder / name for name in ("products.csv", "bought-together.csv")]
    data = usual_split(read_graph(*tables, label="department", title="title", weight="orders", ignore=["shelf"]))
    scored = NCGNNClassifier(hops=2, epochs=60).fit_scored(data)
    path = folder / "page.html"
    write_page(path, GraphExplainer(scored))
    return path.as_uri()


@pytest.mark.parametrize("width", [1400, 390])
def test_why_is_answered_above_the_fold(visit, shop_page, tmp_path, width):
    """The picture in docs/ is taken anew where it looks otherwise."""
    height = 900 if width == 1400 else 844
    page = visit(shop_page, {"width": width, "height": height})
    link = page.get_by_role("region", name="To be predicted").get_by_role("link").last
    link.click()
    page.locator("#node h1").wait_for()
    shown = page.locator(".words").inner_text()
    assert " because " in shown
    for part in (".words", ".facts:visible", ".words ~ p"):
        box = page.locator(f"#node {part}" if part != ".facts:visible" else part).first.bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= height, part
    page.locator("h1:focus").evaluate("one => one.blur()")
    taken, kept = tmp_path / "why.png", DOCS / f"page-why-{width}.png"
    page.screenshot(path=taken)
    if not kept.is_file() or _difference(taken, kept) > 0.02:
        kept.write_bytes(taken.read_bytes())


def _difference(taken: Path, kept: Path) -> float:
    """The mean difference of the brightness of two pictures, at most 1."""
    image = pytest.importorskip("PIL.Image", reason="install pillow")
    first, second = (np.asarray(image.open(path).convert("L"), dtype=float) for path in (taken, kept))
    return 1.0 if first.shape != second.shape else float(np.abs(first - second).mean() / 255)


def test_ticking_a_neighbour_off_changes_bars_drawing_and_estimate(visit, address):
    page = visit(f"{address}#node=33")
    first = page.locator(".neighbours tr", has=page.locator("input")).first
    before, lines = first.locator(".number").inner_text(), page.locator("svg.ego a").count()
    assert before != "0.0 %"
    first.locator("input").uncheck()
    assert page.locator(".neighbours tr", has=page.locator("input")).first.locator(".number").inner_text() == "0.0 %"
    assert page.locator("svg.ego a").count() == lines - 1
    said = page.locator(".changed").inner_text()
    assert "estimate" in said
    assert re.search(r"class \d (stays|gets) ahead of class \d", said)
    lead, whole, gone = page.evaluate("loadNode('33').then(n => [n.score, n.whole, n.neighbours[0].value])")
    assert f"to {100 * (lead - gone) / whole:.1f} %".replace("-", "−") in said
    page.locator(".neighbours input").first.check()
    assert page.locator(".changed").inner_text() == ""


def test_lines_are_as_wide_as_the_numbers_beside_them(visit, address):
    page = visit(f"{address}#node=33")
    page.get_by_label("Nodes shown").fill("16")
    shares = page.evaluate("loadNode('33').then(n => n.neighbours.slice(0, 16).map(o => Math.abs(o.value) / n.whole))")
    widths = [float(line.get_attribute("stroke-width")) for line in page.locator("svg.ego .branch").all()]
    assert sorted(widths) == pytest.approx(sorted(max(0.4, 40 * share) for share in shares), abs=0.01)
