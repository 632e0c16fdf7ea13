"""Pages in a real browser: the machine's own Chromium, driven by Playwright.

Without Chromium these tests skip and say so; `make browser` installs it.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from relgate.eval.lists.build import ListBuilder
from relgate.eval.lists.types import SCALES, Provenance, Query, Source
from relgate.eval.metrics.conventions import Conventions
from relgate.eval.report.document import review_document
from relgate.eval.review.change import ChangeDescription, ChangeType
from relgate.eval.review.evidence import Extras, build_evidence
from relgate.eval.review.types import FillFacts, JudgeUse
from relgate.eval.review.verdict import review
from relgate.eval.runs.types import Run

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


@pytest.fixture(
    scope="module"
)  # while it is open, no other test's asyncio.run works in this thread
def chromium() -> Iterator[Browser]:
    """The browser, closed before the next file's tests."""
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


# Texts that real lists hold and that break pages: other directions, long words, other scripts.
ODD = (
    "חולצה לבנה לגברים XL", "قميص أبيض للرجال مقاس كبير", "x" * 300, "red shoes " * 40,
    "👟 sneakers", "日本語の靴", "a&b <i>x</i>", "\u202eevil", " ", "-0.00",
)  # fmt: skip
_LONG_ID = f"catalogue/eu-west-1/{'deep/' * 12}query-0123456789abcdef0123456789abcdef"
_DOCS = 14
_K = 10


@pytest.fixture(scope="session")
def make_document() -> Callable[..., dict[str, Any]]:
    """A review of so many queries as `review.json` holds it, half of them changed by chance.

    `text` stands in every query, document, title, error, judge and note.
    """

    def build(n: int, text: str = "") -> dict[str, Any]:
        rng = random.Random(n)  # noqa: S311 - example data
        odd = ODD if n > len(ODD) else ()
        queries = tuple(
            Query(f"{_LONG_ID}-{i}" if i % 7 == 6 else f"q{i}", f"{text} {x}".strip())
            for i, x in enumerate((*odd, *(f"query {i}" for i in range(len(odd), n))))
        )
        people = Provenance(Source.HUMAN)
        judge = Provenance(Source.JUDGE, judge_version=f"v1 {text}", fingerprint="f", model=text)
        builder = ListBuilder(SCALES["0-3"])
        before, after, titles = [], [], {}
        for i, query in enumerate(queries):
            docs = [f"d{i}-{j} {text}" for j in range(_DOCS)]
            titles.update({doc: f"{text} title {doc}" for doc in docs})
            for doc in docs:
                made = people if rng.random() < 0.6 else judge
                builder.add(query, doc, rng.choice((0, 0, 1, 2, 3)), made)
            before.append(tuple(docs[:_K]))
            if rng.random() < 0.5:
                rng.shuffle(docs)
            new = [f"u{i} {text}"] if rng.random() < 0.2 else []
            after.append(tuple([*new, *docs][:_K]))
        failed = {queries[-1].id: f"no field {text}"}
        after[-1] = None
        found = build_evidence(
            builder.build(),
            Run("before", queries, tuple(before)),
            Run("after", queries, tuple(after), MappingProxyType(failed)),
            Conventions(),
            Extras(
                change=ChangeDescription(
                    types=(ChangeType.SYNONYMS,), intent="improve", description=f"change {text}",
                    sha=f"abc1234 {text}".strip(), system_models=(text or "none",),
                ),
                heads=frozenset({"q1", "q2"}),
                heads_given=True,
                judges=(JudgeUse(f"v1 {text}", "f", text, "openai", 9, f"no certificate {text}"),),
                fill=FillFacts(
                    judge=f"judge {text}", asked=9, graded=8, cached=3, errors={"timeout": 1},
                    no_text=1, calls=2, seconds=0.5,
                ),
                overrides=(f"overridden by name: {text}",),
                warnings=(f"a warning {text}",),
                titles=titles,
                inputs={"before": f"before {text}.json"},
            ),
        )  # fmt: skip
        return review_document(review(found))

    return build
