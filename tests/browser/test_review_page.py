"""The review's page in Chromium: nothing runs, nothing is asked for, everybody can read it."""

from __future__ import annotations

import html

import pytest

from relgate.eval.report.html.review import review_html

HOSTILE = (
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script><img src=x onerror=alert(2)>",
    "</title><script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<img src=http://127.0.0.1:9/a.png>",
    "<svg onload=alert(1)>",
    "</svg><script>alert(1)</script>",
    "<svg><use href=http://127.0.0.1:9/a.svg#x>",
    "<svg><animate onbegin=alert(1) attributeName=x dur=1s>",
    "<iframe src=javascript:alert(1)>",
    "<iframe srcdoc='<script>alert(1)</script>'>",
    "<object data=http://127.0.0.1:9/a>",
    "<embed src=http://127.0.0.1:9/a>",
    "<link rel=stylesheet href=http://127.0.0.1:9/a.css>",
    "<style>@import 'http://127.0.0.1:9/a.css'</style>",
    "<meta http-equiv=refresh content='0;url=http://127.0.0.1:9/'>",
    "<base href=http://127.0.0.1:9/>",
    "<form action=http://127.0.0.1:9/><input name=x autofocus onfocus=alert(1)>",
    "<a href=javascript:alert(1) autofocus onfocus=alert(1)>x</a>",
    "<details open ontoggle=alert(1)>",
    "<video><source onerror=alert(1) src=x>",
    "<body onload=alert(1)>",
    "<math><mtext></p><script>alert(1)</script>",
    "<template><script>alert(1)</script></template><script>alert(1)",
    '" onmouseover=alert(1) x="',
    "' style='background:url(http://127.0.0.1:9/a.png)' x='",
    "--><script>alert(1)</script><!--",
    "{{ 7 * 7 }}{% include 'page.html' %}${alert(1)}",
    "&lt;script&gt;alert(1)&lt;/script&gt;\u202e\u0000<script>alert(1)</script>",
)  # fmt: skip


def test_there_are_thirty_hostile_texts():
    assert len(set(HOSTILE)) == 30


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_is_shown_and_does_nothing(text, make_document, open_page):
    document = make_document(5, text)
    document["losers"][0]["debug"].update(splainer=f"https://s.example/#?q={text}", quepid=text)
    opened = open_page(review_html(document))
    opened.page.evaluate(
        "for (const d of document.querySelectorAll('details')) d.open = true;"
        "for (const b of document.querySelectorAll('th button')) b.click();"
    )
    opened.page.mouse.move(300, 300)
    opened.page.wait_for_timeout(50)
    assert opened.acts == []
    shown = text.replace("\u202e", "\\u202e").replace("\0", "\\x00")
    rows = opened.page.locator("#worse-table tbody th").all_inner_texts()
    assert any(" ".join(shown.split()) in " ".join(row.split()) for row in rows)


def test_the_watch_sees_what_a_page_without_escaping_would_do(make_document, open_page):
    """The planted fault: the same page with its texts put in raw, and no content policy."""
    text = "<img src=http://127.0.0.1:9/a.png onerror=alert(1)>"
    page = review_html(make_document(5, text)).replace(html.escape(text), text)
    opened = open_page(page.replace("Content-Security-Policy", "X-Nothing"))
    opened.page.wait_for_timeout(300)
    assert opened.requests
    assert opened.dialogs


def test_the_policy_stops_what_would_get_past_the_escaping(make_document, open_page):
    text = "<img src=http://127.0.0.1:9/a.png onerror=alert(1)>"
    opened = open_page(review_html(make_document(5, text)).replace(html.escape(text), text))
    opened.page.wait_for_timeout(300)
    assert opened.dialogs == []
    assert opened.console  # it said what it refused
    assert all("Content Security Policy" in line for line in opened.console)


@pytest.mark.parametrize(
    ("queries", "scheme", "width"), [(40, "light", 1280), (40, "dark", 390), (5, "dark", 1280)]
)
def test_axe_finds_nothing(queries, scheme, width, make_document, open_page):
    opened = open_page(review_html(make_document(queries)), scheme=scheme, width=width)
    assert opened.violations() == []
    assert opened.acts == []


def test_axe_sees_a_page_that_is_hard_to_read(make_document, open_page):
    """The planted fault: grey on grey, and a chart without a name."""
    page = review_html(make_document(5)).replace(' aria-labelledby="delta-chart-title"', "")
    opened = open_page(page)
    opened.page.evaluate(
        "document.querySelector('.why').setAttribute('class', 'x');"
        "for (const p of document.querySelectorAll('p')) p.style.color = '#ccc';"
    )
    found = {line.split(":")[0] for line in opened.violations()}
    assert found >= {"color-contrast", "svg-img-alt"}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_charts_take_the_colours_of_the_page(scheme, make_document, open_page):
    opened = open_page(review_html(make_document(40)), scheme=scheme)
    inks = opened.page.evaluate(
        "['#delta-chart .fill-bad', '#slope-chart .stroke-good', '#slope-chart text'].map(s => {"
        "const c = getComputedStyle(document.querySelector(s)); return [c.fill, c.stroke]})"
    )
    light = (["rgb(180, 35, 24)", "none"], "rgb(11, 100, 120)", "rgb(27, 31, 36)")
    dark = (["rgb(255, 149, 128)", "none"], "rgb(98, 200, 221)", "rgb(230, 235, 240)")
    wanted = light if scheme == "light" else dark
    assert (inks[0], inks[1][1], inks[2][0]) == wanted


def test_losers_sort_by_any_column_and_by_keyboard(make_document, open_page):
    page = open_page(review_html(make_document(40))).page

    def column(place: int) -> list[str]:
        return page.locator(f"#worse-table tbody tr > :nth-child({place})").all_inner_texts()

    changes = [float(x) for x in column(5)]
    assert changes == sorted(changes)  # as it comes: worst first
    page.locator("#worse-table thead button").nth(2).focus()
    page.keyboard.press("Enter")
    before = [float(x) for x in column(3)]
    assert before == sorted(before)
    head = page.locator("#worse-table thead th").nth(2)
    assert head.get_attribute("aria-sort") == "ascending"
    page.keyboard.press("Space")
    assert [float(x) for x in column(3)] == sorted(before, reverse=True)
    assert head.get_attribute("aria-sort") == "descending"
    page.locator("#worse-table thead button").nth(0).click()
    assert head.get_attribute("aria-sort") is None
    assert [int(x) for x in column(1)] == list(range(1, len(before) + 1))


def test_it_is_whole_without_script(make_document, open_page):
    text = review_html(make_document(40))
    plain = open_page(text, java_script_enabled=False).page
    scripted = open_page(text).page
    assert plain.locator("body").inner_text() == scripted.locator("body").inner_text()
    assert plain.locator("th button").count() == 0
    assert scripted.locator("th button").count() > 0


def test_the_first_tab_skips_to_the_content(make_document, open_page):
    page = open_page(review_html(make_document(5))).page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    box = page.locator(".skip").bounding_box()
    assert box["x"] >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_nothing_but_tables_is_wider_than_the_window(width, make_document, open_page):
    opened = open_page(review_html(make_document(40)), width=width)
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    wide = opened.page.evaluate(
        "[...document.querySelectorAll('body *')].filter(e => !e.closest('.scroll, .skip, svg')"
        "&& e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 100))"
    )
    assert wide == []


def test_labels_of_a_chart_stay_inside_it_and_apart(make_document, open_page):
    page = open_page(review_html(make_document(250)), width=390).page
    faults = page.evaluate(
        """() => [...document.querySelectorAll(".chart svg")].flatMap((svg) => {
          const room = svg.getBoundingClientRect();
          const all = [...svg.querySelectorAll("text")];
          const boxes = all.map((t) => [t.textContent, t.getBoundingClientRect()]);
          const out = (b) => b.left < room.left - 1 || b.right > room.right + 1
            || b.top < room.top - 1 || b.bottom > room.bottom + 1;
          const over = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
            && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4;
          return boxes.flatMap(([t, a], i) => [
            ...(out(a) ? [`outside: ${t}`] : []),
            ...boxes.slice(i + 1).filter(([, b]) => over(a, b)).map(([u]) => `${t} over ${u}`),
          ]);
        })"""
    )
    assert faults == []


def test_text_of_another_direction_stands_in_its_own(make_document, open_page):
    page = open_page(review_html(make_document(40))).page
    directions = page.evaluate(
        "[...document.querySelectorAll('tbody th bdi')].map(e => "
        "[e.textContent.charCodeAt(0), getComputedStyle(e).direction])"
    )
    hebrew = [way for code, way in directions if 0x590 <= code <= 0x6FF]
    assert hebrew
    assert set(hebrew) == {"rtl"}
    assert page.evaluate("getComputedStyle(document.querySelector('main')).direction") == "ltr"


@pytest.mark.parametrize(("queries", "most_mb"), [(5, 0.1), (250, 0.3), (5000, 2.0)])
def test_a_large_page_opens_and_shows_every_query_that_moved(
    queries, most_mb, make_document, open_page
):
    document = make_document(queries)
    text = review_html(document)
    assert len(text.encode()) < most_mb * 1e6
    opened = open_page(text)
    moved = sum(q["delta"] is not None and q["delta"] != 0 for q in document["queries"])
    rows = opened.page.locator("#worse-table tbody tr, #better-table tbody tr").count()
    assert rows == moved
    assert opened.acts == []
    assert opened.page.locator("svg path").count() < 500  # lines are capped, and the page says so
    if queries == 5000:
        assert "the 60 largest drops of" in text


def test_it_prints_in_light_colours_and_without_the_list_of_contents(make_document, open_page):
    page = open_page(review_html(make_document(5)), scheme="dark").page
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator("nav").is_visible()
