"""Pages in a real browser: the machine's own Chromium, driven by Playwright, without a network.

Without Chromium these tests skip and say so; `make browser` installs it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

_FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
_NAMES = ("chromium", "chromium-browser", "google-chrome")


@dataclass(slots=True)
class Opened:
    """A page that was opened, and whatever it tried to do.

    Attributes:
        page: the browser's page.
        requests: addresses that it asked for, its own file left out.
        dialogs: messages of alerts and the like.
        console: messages, of refused styles and scripts too.
    """

    page: Page
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    console: list[str] = field(default_factory=list)

    @property
    def acts(self) -> list[str]:
        """Everything that a page of ours never does."""
        return [*self.requests, *self.dialogs, *self.console]

    def violations(self) -> list[str]:
        """What axe-core finds against it."""
        found = Axe().run(self.page).response["violations"]
        return [f"{v['id']}: {v['nodes'][0]['html'][:200]}" for v in found]


Open = Callable[..., Opened]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The browser."""
    wanted = os.environ.get("RELGATE_CHROMIUM")
    path = wanted or next((p for name in _NAMES if (p := shutil.which(name))), None)
    if path is None:
        pytest.skip("no chromium on this machine; make browser installs it")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, headless=True, args=_FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium: Browser, tmp_path: Path) -> Iterator[Open]:
    """Opens a text as a file of its own, in light or dark, at a width in px."""
    contexts = []

    def open_text(text: str, *, scheme: str = "light", width: int = 1280, **more) -> Opened:
        context = chromium.new_context(
            color_scheme=scheme, viewport={"width": width, "height": 900}, **more
        )
        contexts.append(context)
        path = tmp_path / f"page{len(contexts)}.html"
        path.write_text(text, encoding="utf-8")
        opened = Opened(context.new_page())
        page = opened.page
        page.on("request", lambda r: opened.requests.append(r.url))
        page.on("dialog", lambda d: (opened.dialogs.append(d.message), d.dismiss()))
        page.on("console", lambda m: opened.console.append(m.text))
        page.on("pageerror", lambda e: opened.console.append(str(e)))
        page.goto(path.as_uri())
        assert opened.requests.pop(0) == path.as_uri()
        return opened

    yield open_text
    for context in contexts:
        context.close()
