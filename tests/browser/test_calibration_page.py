"""The page of a calibration in Chromium: nothing runs, nothing overflows, everybody can read it."""

from __future__ import annotations

import random

import pytest

from relgate.eval.agreement.calibrate import Terms, calibrate_pairs
from relgate.eval.agreement.document import calibration_json
from relgate.eval.agreement.groups import Group
from relgate.eval.agreement.pairs import UNGRADED, GradedPairs, JudgeIdentity
from relgate.eval.lists.types import SCALES, Query
from relgate.eval.report.html.calibration import calibration_html

HOSTILE = (
    "<script>alert(1)</script><img src=http://127.0.0.1:9/a.png onerror=alert(2)>",
    "</title></svg><svg onload=alert(1)><style>@import 'http://127.0.0.1:9/a.css'</style>",
    "{{ 7 * 7 }}' onmouseover=alert(1) x='\u202egnp.exe &lt;b&gt;",
)


def page_of(text: str = "red", *, seed: int = 1, one_class: bool = False) -> str:
    import numpy as np  # noqa: PLC0415

    draw = random.Random(seed)  # noqa: S311 - made-up labels
    n = 240
    human = np.array([3 if one_class else draw.randrange(4) for _ in range(n)])
    judge = np.array([draw.choice((h, h, draw.randrange(4), UNGRADED)) for h in human])
    pairs = GradedPairs(
        query=np.arange(n) // 8,
        human=human,
        judge=judge,
        queries=tuple(Query(f"q{i}", f"{text} {i}") for i in range(n // 8)),
        doc_ids=tuple(f"d{i} {text}" for i in range(n)),
        judge_reasons=tuple(f"judge says {text}" for _ in range(n)),
        human_reasons=tuple(f"people note {text}" for _ in range(n)),
        errors={"timeout": int((judge == UNGRADED).sum())},
        sources={"human": n},
    )
    result = calibrate_pairs(
        pairs,
        scale=SCALES["0-3"],
        terms=Terms(
            resamples=200,
            groups_of=lambda q: (Group("stratum", f"{text} {q.id[-1]}"), Group("locale", text)),
            text_of=lambda doc: f"{doc} " + 40 * f"{text} ",
        ),
        judge=JudgeIdentity(f"v@1 {text}", "f1", text, text),
    )
    return calibration_html(calibration_json(result))


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_is_shown_and_does_nothing(text, open_page):
    opened = open_page(page_of(text))
    opened.page.wait_for_timeout(50)
    assert opened.acts == []
    shown = text.replace("\u202e", "\\u202e")
    for place in ("h1", "#group-figures", "#disagreement-1"):
        said = " ".join(opened.page.locator(place).inner_text().split())
        assert " ".join(shown.split()) in said


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("one_class", [False, True])
def test_axe_finds_nothing_and_the_page_does_not_scroll_sideways(
    open_page, scheme, width, one_class
):
    opened = open_page(page_of(one_class=one_class), scheme=scheme, width=width)
    assert opened.violations() == []
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width


def test_it_is_whole_without_its_script(open_page):
    opened = open_page(page_of(), java_script_enabled=False)
    assert opened.page.locator("svg").count() == 4
    for heading in ("Agreement", "By stratum and locale", "Disagreements to read"):
        assert opened.page.get_by_role("heading", name=heading).first.is_visible()
    assert opened.page.locator("#disagreement-1 tbody tr").count() == 2


def test_each_drawing_has_a_name_and_a_description_and_its_figures_as_text(open_page):
    page = open_page(page_of()).page
    for svg in page.locator("svg").all():
        for attribute in ("aria-labelledby", "aria-describedby"):
            name = svg.get_attribute(attribute)
            assert page.locator(f"#{name}").inner_text().strip()
    confusion = page.locator("#confusion-figures tbody tr")
    assert confusion.count() == 4


def test_the_tables_can_be_reached_by_keyboard(open_page):
    page = open_page(page_of(), width=360).page
    page.locator("[aria-labelledby='group-figures-caption']").focus()
    assert page.evaluate("document.activeElement.getAttribute('aria-labelledby')") == (
        "group-figures-caption"
    )


def test_printed_it_has_all_its_sections(open_page):
    opened = open_page(page_of())
    opened.page.emulate_media(media="print")
    assert opened.page.locator("#disagreements").is_visible()
    assert not opened.page.locator("nav").is_visible()
    assert len(opened.page.pdf()) > 20_000
