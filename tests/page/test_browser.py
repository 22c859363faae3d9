"""The page in a real browser: Debian's chromium, which ``make test-long`` installs where it may."""

import re
from pathlib import Path
from urllib.parse import quote

import pytest

from helpers.browser import DESKTOP, PHONE, heading, wait_for
from helpers.group_models import grouped_classifier, linked_graph
from helpers.planted_names import PLANTED
from ncgnn.classifier import NCGNNClassifier
from ncgnn.data import load_dataset, usual_split
from ncgnn.explain import GraphExplainer
from ncgnn.page import NodeViews, served_page, write_page

pytestmark = pytest.mark.long

WIDTHS = (390, 768, 1180, 1400, 1920)


def test_the_overview_shows_accuracy_map_lists_and_matrices(visit, address):
    page = visit(address)
    titles = page.locator("main:visible h2").all_text_contents()
    assert titles[:3] == ["How far to trust the reasons", "All nodes", "Most doubtful"]
    assert titles[-4:] == ["Confusion", "Calibration", "Hops", "Couplings"]
    assert re.search(r"accuracy on 14 test nodes\s+\d+\.\d %", page.locator(".facts:visible").inner_text())


def test_a_search_lists_nodes_and_enter_opens_the_first(visit, address):
    page = visit(address)
    page.get_by_label("Find a node").fill("3")
    assert page.locator("#found").inner_text() == "7 found"
    assert page.locator("#results a").first.inner_text() == "3"
    page.get_by_label("Find a node").fill("33")
    page.keyboard.press("Enter")
    wait_for(page, "Node 33")


def test_a_click_on_a_neighbour_opens_it(visit, address):
    page = visit(f"{address}#node=33")
    link = page.locator("svg.ego a").first
    name = link.get_attribute("aria-label").split(",")[0]
    link.click()
    wait_for(page, f"Node {name}")
    page.go_back()
    wait_for(page, "Node 33")


def test_the_slider_shows_more_and_fewer_neighbours(visit, address):
    page = visit(f"{address}#node=33")
    slider = page.get_by_label("Nodes shown")
    for shown in (5, 14):
        slider.fill(str(shown))
        assert page.locator(".neighbours tr:not(.quiet)").count() == 1 + shown  # the node itself comes first
        assert page.locator("svg.ego a").count() == page.locator(".neighbours a").count()


def test_a_link_opens_a_node_and_an_unknown_one_is_said(visit, address):
    assert heading(visit(f"{address}#node=5")) == "Node 5"
    page = visit(f"{address}#node=nobody")
    assert heading(page) == "No such node"
    assert "This page knows no node nobody." in page.locator("main:visible").inner_text()


def test_a_click_on_the_map_opens_the_node_under_the_pointer(visit, address):
    page = visit(address)
    box = page.locator("canvas").bounding_box()
    x, y = page.evaluate(
        "(() => { const map = document.querySelector('canvas'); return frame({canvas: map}).at(report.places[7]) })()"
    )
    page.mouse.move(box["x"] + x, box["y"] + y)
    tip = page.locator(".tip").inner_text()
    assert re.search(r": \d ≈ \d+ %, label", tip)  # not calibrated
    page.mouse.click(box["x"] + x, box["y"] + y)
    page.locator("#node h1").wait_for()
    assert tip.startswith(heading(page).removeprefix("Node ") + ": ")


def test_all_can_be_reached_with_the_keyboard(visit, address):
    page = visit(address)
    focused = "document.activeElement.id || document.activeElement.tagName"
    page.keyboard.press("Tab")
    assert page.evaluate(focused) == "home"
    page.keyboard.press("Tab")
    page.keyboard.type("33")
    page.keyboard.press("Enter")
    page.locator("h1:focus").wait_for()  # where reading goes on
    page.keyboard.press("Tab")
    assert page.evaluate(focused) == "shown"
    page.keyboard.press("ArrowRight")
    assert page.locator("output").inner_text().startswith("13 of")
    page.keyboard.press("Tab")
    assert page.evaluate(focused) == "a"
    name = page.evaluate("document.activeElement.querySelector('text').textContent").removeprefix("− ")
    page.keyboard.press("Enter")
    wait_for(page, f"Node {name}")


def test_the_map_can_be_walked_with_arrow_keys(visit, address):
    page = visit(address)
    page.locator("canvas").focus()
    seen = []
    for key in ("ArrowRight", "ArrowLeft", "ArrowUp", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
        seen.append(page.locator(".tip").inner_text())
    there = seen[-1]
    assert len(set(seen)) > 1
    page.keyboard.press("Enter")
    page.locator("#node h1").wait_for()
    assert there.startswith(heading(page).removeprefix("Node ") + ": ")


def test_a_class_can_be_looked_at_by_itself(visit, address):
    page = visit(address)
    before = page.locator("canvas").screenshot()
    page.locator(".legend button").first.click()
    assert page.locator(".legend button").first.get_attribute("aria-pressed") == "true"
    assert page.locator("canvas").screenshot() != before


@pytest.fixture(scope="module")
def grouped_address(tmp_path_factory) -> str:
    """The page of a model with several groups of capsules."""
    data = linked_graph()
    path = tmp_path_factory.mktemp("pages") / "grouped.html"
    write_page(path, GraphExplainer(grouped_classifier(data, "links").scored(data)))
    return path.as_uri()


@pytest.mark.parametrize("reason", ["its and its neighbours' features", "whom it links to"])
def test_nodes_can_be_found_by_what_they_are_recognised_by(visit, grouped_address, reason):
    page = visit(grouped_address)
    before = page.locator("canvas").screenshot()
    page.get_by_role("button", name=reason).click()
    assert page.locator("canvas").screenshot() != before
    listed = page.locator("section", has=page.get_by_role("heading", name=f"Recognised by {reason}"))
    listed.locator("a").first.click()
    page.locator("#node h1").wait_for()
    page.locator("#node summary").click()
    bars = page.locator("section", has=page.get_by_role("heading", name="By group"))
    assert reason in bars.locator("tr").first.inner_text()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("hash", ["", "#node=33"], ids=["overview", "node"])
@pytest.mark.parametrize("shown", ["address", "grouped_address"], ids=["one group", "groups"])
def test_nothing_is_wider_than_the_window(visit, request, tmp_path, width, hash, shown):
    page = visit(request.getfixturevalue(shown) + hash, {"width": width, "height": 900})
    page.screenshot(path=tmp_path / "page.png", full_page=True)
    assert (tmp_path / "page.png").stat().st_size > 20_000
    assert page.evaluate("document.documentElement.scrollWidth") == width
    for details in page.locator("details").all():
        details.evaluate("one => { one.open = true }")
    tables = "[...document.querySelectorAll('main:not([hidden]) table:not(.heat)')]"  # a matrix of classes may scroll
    assert (
        page.evaluate(f"{tables}.map(one => one.scrollWidth - one.parentNode.clientWidth).filter(more => more > 0)")
        == []
    )


@pytest.mark.parametrize("width", WIDTHS)
def test_no_word_of_a_tag_is_broken(visit, address, width):
    page = visit(f"{address}#node=33", {"width": width, "height": 900})
    tags = page.locator(".tag", has_text=re.compile("^training$"))
    assert tags.count()
    assert {
        tag.evaluate("one => one.offsetHeight < 2 * parseFloat(getComputedStyle(one).fontSize)") for tag in tags.all()
    } == {True}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("hash", ["", "#node=33"], ids=["overview", "node"])
def test_axe_finds_nothing_serious(visit, address, scheme, hash):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="install axe-playwright-python")
    page = visit(address + hash, scheme=scheme)
    found = axe.Axe().run(page).response["violations"]
    serious = [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in ("serious", "critical")]
    assert serious == []


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("name", PLANTED)
def test_planted_names_are_shown_as_text(visit, planted_page, planted, name, viewport):
    page = visit(planted_page.as_uri(), viewport)
    page.get_by_label("Find a node").fill(name)
    title = planted.node_titles[planted.node_ids.index(name)]
    assert page.locator("#results a").first.text_content() == f"{name} {title}"
    page.keyboard.press("Enter")
    page.locator("#node h1").wait_for()
    assert page.locator("main:visible h1").text_content() == f"Node {name} “{title}”"
    assert page.evaluate("window.planted") is None
    assert page.evaluate("document.documentElement.scrollWidth") == viewport["width"]
    assert page.locator(".home").text_content() == planted.name
    page.goto(f"{planted_page.as_uri()}#node={quote(name)}")
    assert page.locator("main:visible h1").text_content() == f"Node {name} “{title}”"


def test_a_page_of_chosen_nodes_leads_to_them(visit, explainer, tmp_path):
    write_page(tmp_path / "two.html", explainer, ["5", "33"])
    page = visit((tmp_path / "two.html").as_uri())
    links = page.get_by_role("region", name="Explained nodes").get_by_role("link")
    assert links.all_inner_texts() == ["5", "33"]
    links.nth(1).click()
    wait_for(page, "Node 33")
    page.goto(f"{page.url.split('#')[0]}#node=7")
    page.get_by_text("This file contains explanations of selected nodes only").wait_for()


def test_names_in_a_drawing_do_not_cover_each_other(visit, address):
    page = visit(f"{address}#node=33", PHONE)
    page.get_by_label("Nodes shown").fill("17")
    boxes = [name.bounding_box() for name in page.locator("svg.ego a text").all() if name.text_content()]
    assert 2 < len(boxes) <= 17
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            across = min(a["x"] + a["width"], b["x"] + b["width"]) - max(a["x"], b["x"])
            down = min(a["y"] + a["height"], b["y"] + b["height"]) - max(a["y"], b["y"])
            assert min(across, down) <= 4  # the letters' own margins


def test_a_served_page_asks_its_server_for_a_node(browser, explainer):
    served, asked = "http://ncgnn.test/", []
    views = NodeViews(explainer)

    def answer(route):
        asked.append(route.request.url)
        if "api/view?node=33" in asked[-1]:
            route.fulfill(json=next(views(["33"])))
        else:
            route.fulfill(status=404, json={"detail": "there is no such node"})

    page = browser.new_page()
    page.route(served, lambda route: route.fulfill(body=served_page(explainer), content_type="text/html"))
    page.route(f"{served}api/**", answer)
    page.goto(f"{served}#node=33")
    page.wait_for_selector("svg.ego a")
    page.evaluate("location.hash = '#node=nobody'")
    wait_for(page, "No such node")
    assert asked == [f"{served}api/view?node=33", f"{served}api/view?node=nobody"]
    page.context.close()


@pytest.mark.parametrize("width", WIDTHS)
def test_no_list_is_cut(visit, planted_page, address, width):
    for shown in (address, planted_page.as_uri()):
        page = visit(shown, {"width": width, "height": 900})
        cut = page.evaluate(
            "[...document.querySelectorAll('.list')].map(t => t.scrollWidth - t.parentNode.clientWidth)"
        )
        assert cut
        assert max(cut) <= 0


def test_nodes_without_a_label_are_listed_first_and_explained(visit, karate, tmp_path):
    data = karate.clone()
    data.y[20:26] = -1
    data.test_mask[20:26] = data.train_mask[20:26] = data.val_mask[20:26] = False
    scored = NCGNNClassifier(hops=2, num_capsules=2, epochs=10).fit_scored(data)
    write_page(tmp_path / "page.html", GraphExplainer(scored))
    page = visit((tmp_path / "page.html").as_uri())
    listed = page.get_by_role("region", name="To be predicted").get_by_role("link")
    assert sorted(listed.all_inner_texts()) == [str(node) for node in range(20, 26)]
    listed.first.click()
    page.locator("#node h1").wait_for()
    assert "to be predicted" in page.locator(".facts:visible").inner_text()
    assert page.locator(".words").inner_text()


@pytest.fixture(scope="module")
def cora_page(tmp_path_factory) -> Path:
    data = usual_split(load_dataset("cora"))
    scored = NCGNNClassifier(epochs=10, beta=5.0, normalize_features=True).fit_scored(data)
    path = tmp_path_factory.mktemp("cora") / "cora.html"
    write_page(path, GraphExplainer(scored))
    return path


def test_all_of_cora_is_one_file_that_is_painted_soon(visit, cora_page):
    assert cora_page.stat().st_size < 6e6
    page = visit(cora_page.as_uri())
    assert "All 2,708 nodes are on the map" in page.locator("main:visible").inner_text()
    painted = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    assert painted < 10_000  # milliseconds; a tenth of a second where nothing else is going on
    started = page.evaluate("performance.now()")
    page.evaluate("location.hash = linkTo(report.nodes.id[2000])")
    page.wait_for_selector("svg.ego a")
    assert page.evaluate("performance.now()") - started < 10_000
