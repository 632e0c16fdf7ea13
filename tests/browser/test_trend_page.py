"""The page of a history in Chromium: nothing runs, nothing overflows, everybody can read it."""

from __future__ import annotations

import pytest

from relgate.eval.drift.history import Entry
from relgate.eval.drift.trend import trend_html
from relgate.eval.drift.types import Outcome, Signal

HOSTILE = "</title></svg><svg onload=alert(1)><script>alert(2)</script>{{ 7 * 7 }}"
OUTCOMES: tuple[Outcome, ...] = ("pass", "warn", "fail", "mismatch")


def page_of(text: str) -> str:
    return trend_html(
        [
            Entry(
                at=f"2026-03-{n + 1:02} {text}",
                sha=f"{text} {n}",
                golden_version=f"v{n // 6} {text}",
                stages=f"{text} rewriter={setting}",
                means=dict.fromkeys(Signal, None if n == 4 else 0.5 + n / 100),
                outcome=OUTCOMES[n % 4],
            )
            for n in range(12)
            for setting in ("on", "off")
        ]
    )


def test_a_hostile_text_is_shown_and_does_nothing(open_page):
    opened = open_page(page_of(HOSTILE))
    opened.page.wait_for_timeout(50)
    assert opened.acts == []
    for place in ("#run-figures", "#stage-names", ".why"):
        assert HOSTILE in opened.page.inner_text(place)


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 360)])
def test_everybody_can_read_it_at_any_width(open_page, scheme, width):
    opened = open_page(page_of("main"), scheme=scheme, width=width)
    assert opened.violations() == []
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
