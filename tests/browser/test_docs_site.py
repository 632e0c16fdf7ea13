"""The documentation site in a real browser: no request outside, no fault of accessibility."""

from __future__ import annotations

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from built_site import whole_site
from playwright.sync_api import Browser

PAGES = ("index", "quickstart", "concepts", "commands", "settings", "api/judge")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_asks_for_nothing_outside_and_axe_finds_nothing(
    chromium: Browser, root: Path, name: str, scheme: str, width: int
):
    site = whole_site(root)
    context = chromium.new_context(color_scheme=scheme, viewport={"width": width, "height": 900})
    try:
        page = context.new_page()
        requests: list[str] = []
        errors: list[str] = []
        page.on("request", lambda r: requests.append(r.url))
        page.on("pageerror", lambda e: errors.append(str(e)))
        page.goto((site.folder / "docs" / f"{name}.html").as_uri())
        assert [r for r in requests if not r.startswith(site.folder.as_uri())] == []
        assert errors == []
        wide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
        assert page.evaluate(wide) is False
        found = Axe().run(page).response["violations"]
        assert [f"{v['id']}: {v['nodes'][0]['html'][:200]}" for v in found] == []
    finally:
        context.close()


def test_the_search_finds_a_page_without_a_server(chromium: Browser, root: Path):
    page = chromium.new_page()
    try:
        page.goto((whole_site(root).folder / "search.html").as_uri() + "?q=certificate")
        page.wait_for_selector("ul.search li a", timeout=30_000)
        titles = page.locator("ul.search li a").all_inner_texts()
        assert any("Calibration" in title for title in titles)
    finally:
        page.close()
