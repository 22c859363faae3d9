"""The served page in a real browser."""

import shutil

import pytest


@pytest.mark.long
def test_the_page_shows_a_node_that_the_server_explains(port):
    sync_api = pytest.importorskip("playwright.sync_api", reason="install playwright")
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.skip("install chromium")
    troubles: list[str] = []
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.goto(f"http://localhost:{port}/")
        page.get_by_label("Find a node").fill("33")
        page.get_by_text("1 found").wait_for()
        assert page.locator("#results a").all_text_contents() == ["33"]
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Node 33", exact=True).wait_for()
        page.wait_for_selector("svg.ego a")
        browser.close()
    assert [text for text in troubles if "favicon" not in text] == []
