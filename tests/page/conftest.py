import shutil
from collections.abc import Iterator
from copy import copy

import pytest
from torch_geometric.data import Data

from helpers.browser import DESKTOP, QUIET
from helpers.planted_names import PLANTED
from helpers.small_models import SMALL
from ncgnn.classifier import NCGNNClassifier
from ncgnn.data import load_dataset, split_per_class
from ncgnn.explain import GraphExplainer
from ncgnn.page import write_page


@pytest.fixture(scope="session")
def karate() -> Data:
    return split_per_class(load_dataset("karate"), train=3, val=8)


@pytest.fixture(scope="session")
def explainer(karate) -> GraphExplainer:
    """Of the karate club; not to be changed."""
    return GraphExplainer(NCGNNClassifier(**SMALL, hops=2, epochs=15).fit_scored(karate))


@pytest.fixture(scope="session")
def planted() -> Data:
    """The karate club, with names that try to be more than names."""
    data = copy(split_per_class(load_dataset("karate"), train=3, val=8))
    data.node_titles = [*reversed(PLANTED), *[""] * (data.num_nodes - len(PLANTED))]
    data.node_ids = [*PLANTED, *data.node_ids[len(PLANTED) :]]
    data.feature_names = [*PLANTED, *data.feature_names[len(PLANTED) :]]
    data.class_names = [f"{name} {number}" for number, name in enumerate(PLANTED[:4])]
    data.name = PLANTED[1]
    return data


@pytest.fixture(scope="session")
def planted_page(planted, tmp_path_factory):
    """The page of that graph."""
    scored = NCGNNClassifier(**SMALL, hops=2, epochs=5).fit_scored(planted)
    path = tmp_path_factory.mktemp("planted") / "page.html"
    write_page(path, GraphExplainer(scored))
    return path


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="install playwright")
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.skip("install chromium")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=list(QUIET))
        yield browser
        browser.close()


@pytest.fixture
def visit(browser) -> Iterator:
    """Opens an address in a window of its own; in the end, no script may have failed and nothing have been loaded."""
    troubles: list[str] = []
    windows = []

    def open_address(address: str, viewport: dict = DESKTOP, scheme: str = "light"):
        window = browser.new_context(viewport=viewport, color_scheme=scheme)
        windows.append(window)
        page = window.new_page()
        page.on("console", lambda message: troubles.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: troubles.append(f"error: {error}"))
        page.on("dialog", lambda dialog: troubles.append(f"dialog: {dialog.message}"))
        page.on("request", lambda request: troubles.append(f"request: {request.url}"))
        page.goto(address)
        assert [trouble.partition("#")[0] for trouble in troubles[:1]] == [f"request: {address.partition('#')[0]}"]
        troubles.clear()
        return page

    yield open_address
    for window in windows:
        window.close()
    assert troubles == []


@pytest.fixture(scope="module")
def address(explainer, tmp_path_factory) -> str:
    """The page of the karate club."""
    path = tmp_path_factory.mktemp("pages") / "karate.html"
    write_page(path, explainer)
    return path.as_uri()
