"""A page in a real browser: its windows, and what is asked of each page."""

DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 800}
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def heading(page) -> str:
    return page.locator("main:visible h1").inner_text()


def wait_for(page, title: str) -> None:
    page.get_by_role("heading", name=title, exact=True).wait_for()
