"""The labelling page in Chromium, over real servers: blind, inert, nothing is lost."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe

from relgate.eval.label.answers import read_kept
from relgate.eval.label.export import board_of
from relgate.eval.label.types import Act

PAIRS = 130
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63f8cf"
    "c0000003010100c9fe92ef0000000049454e44ae426082"
)
HEBREW = "חולצה לבנה לגברים XL"
HOSTILE = (
    "<script>alert(1)</script><img src=http://192.0.2.7/x.png onerror=alert(2)>"
    "\" autofocus onfocus=alert(3) x='</textarea></title><svg onload=alert(4)>{{ 7 * 7 }}{% raw %}"
)


class Site:
    """A labelling in a process of its own, as a user's shell runs it."""

    def __init__(self, folder: Path, process: subprocess.Popen[str]) -> None:
        self.folder = folder
        self.process = process
        assert process.stdout is not None
        self.links = dict(process.stdout.readline().split() for _ in range(2))

    @property
    def home(self) -> str:
        return "http://" + urlsplit(self.links["rater"]).netloc

    def kept(self):
        return read_kept(self.folder / "sheet.answers.jsonl").answers

    def grades(self) -> dict[tuple[str, str], int | None]:
        """{(rater, document): grade} of what stands in the file."""
        board = board_of(self.kept())
        return {
            (a.rater, a.doc_id): a.grade
            for rater in board.raters
            for a in board.answers(rater)
            if a.act is Act.GRADE
        }


@contextmanager
def labelling(folder: Path, *words: str) -> Iterator[Site]:
    command = [
        *(sys.executable, "-m", "relgate.eval", "label", "--quiet"),
        *("--sheet", "sheet.jsonl", "--catalogue", "catalogue.jsonl", "--images", "images"),
        *words,
    ]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, cwd=folder) as process:  # noqa: S603
        try:
            yield Site(folder, process)
        finally:
            process.kill()


def write(folder: Path, n: int, **first) -> Path:
    """A sheet of `n` pairs and its catalogue; `first` are fields of the first product."""
    (folder / "images").mkdir()
    (folder / "images" / "a.png").write_bytes(PNG)
    products = [
        {"id": f"d{i}", "title": f"Product {i}", "price": 9.5 + i, "currency": "EUR",
         "color": "red", "description": f"What product {i} is like.", "image": "a.png"}
        for i in range(n)
    ]  # fmt: skip
    products[0] |= first
    rows = [
        {"query_id": f"q{i // 3}", "query": first.get("query", f"query {i // 3}"),
         "doc_id": f"d{i}", "text": "x", "grade": None, "need": first.get("need")}
        for i in range(n)
    ]  # fmt: skip
    for name, values in (("catalogue", products), ("sheet", rows)):
        text = "\n".join(json.dumps(value) for value in values)
        (folder / f"{name}.jsonl").write_text(text)
    return folder


class Visit:
    """A browser window of its own; what the page tries beside its work is kept."""

    def __init__(self, page, home: str) -> None:
        self.page = page
        self.acts: list[str] = []
        page.on("request", lambda r: r.url.startswith(home) or self.acts.append(r.url))
        page.on("dialog", lambda d: (self.acts.append(d.message), d.dismiss()))
        page.on("console", lambda m: self.acts.append(m.text))
        page.on("pageerror", lambda e: self.acts.append(str(e)))

    def done(self) -> int:
        return int(re.search(r"\d+", self.page.inner_text(".progress span"))[0])

    def press(self, key: str) -> None:
        """Presses a key and waits until the page has said what became of it."""
        self.page.evaluate("document.getElementById('status').textContent = ''")
        self.page.keyboard.press(key)
        self.settle()

    def settle(self) -> None:
        self.page.wait_for_function(
            "() => !document.querySelector('#work[aria-busy]') && ("
            "document.getElementById('status').textContent || "
            "!document.getElementById('alert').hidden)"
        )

    def says(self) -> str:
        return self.page.text_content("#status")

    def card(self) -> str:
        return self.page.inner_text("#card")

    def violations(self) -> list[str]:
        found = Axe().run(self.page).response["violations"]
        return [f"{v['id']}: {v['nodes'][0]['html'][:200]}" for v in found]


@pytest.fixture
def visit(chromium):
    """Opens the raters' link and signs with a name; None opens a link and no more."""
    contexts = []

    def opened(site: Site, rater: str | None, *, lang: str = "en", role: str = "rater", **more):
        context = chromium.new_context(**more)
        contexts.append(context)
        context.set_default_timeout(10_000)
        made = Visit(context.new_page(), site.home)
        made.page.goto(site.links[role])
        made.page.wait_for_url(lambda url: "token" not in url)
        if rater is not None:
            made.page.select_option("#lang", lang)
            made.page.fill("#rater", rater)
            made.page.keyboard.press("Enter")
            made.page.wait_for_selector("[data-ready]")
        return made

    yield opened
    for context in contexts:
        context.close()


def test_two_raters_grade_a_hundred_by_keyboard_at_once(tmp_path, visit):
    write(tmp_path, PAIRS)
    keys, graded = "3e2s1c0i", {"3e": 3, "2s": 2, "1c": 1, "0i": 0}
    with labelling(tmp_path, "--dual", "0.5") as site:
        people = {name: visit(site, name) for name in ("Ann", "Ben")}
        wanted = {}
        for i in range(100):
            for name, window in people.items():
                if not window.page.query_selector("[data-grade]"):
                    continue
                doc = re.search(r"Product (\d+)", window.card())[1]
                key = keys[(i + len(name)) % len(keys)]
                wanted[name, f"d{doc}"] = next(g for k, g in graded.items() if key in k)
                window.press(key)
        assert people["Ann"].done() + people["Ben"].done() == len(wanted)
        assert site.grades() == wanted
        assert len(wanted) >= 190  # 130 pairs, 65 of them twice
        assert [window.acts for window in people.values()] == [[], []]


def test_a_kill_in_mid_session_loses_nothing_that_was_told(tmp_path, visit):
    write(tmp_path, 20)
    told = {}
    with labelling(tmp_path, "--links", "links.json") as site:
        ann = visit(site, "Ann")
        for key in "32101":
            told[re.search(r"Product (\d+)", ann.card())[1]] = int(key)
            ann.press(key)
        before = ann.card()
        site.process.send_signal(signal.SIGKILL)
        site.process.wait()
        ann.page.keyboard.press("2")  # sent to nobody
        ann.page.wait_for_selector("#alert:not([hidden])")
        assert "Not saved yet" in ann.page.inner_text("#alert")
        assert ann.card() == before
        assert {(k, v) for (_, k), v in site.grades().items()} == {
            (f"d{doc}", grade) for doc, grade in told.items()
        }
        with (tmp_path / "sheet.answers.jsonl").open("a") as file:
            file.write('{"id": "torn')
        with labelling(tmp_path, "--links", "links.json") as again:
            assert again.links == site.links
            ann.page.wait_for_function("() => document.getElementById('alert').hidden")
            assert ann.done() == 6  # the page sent it once more, to the new server
            assert len(again.kept()) == 6
            assert again.kept()[-1].grade == 2
            ben = visit(again, "ANN")  # on another device, in other letters
            assert ben.done() == 6


def test_an_answer_whose_reply_is_lost_counts_once(tmp_path, visit):
    write(tmp_path, 5)
    with labelling(tmp_path) as site:
        ann = visit(site, "Ann")
        lost = []

        def lose_the_first(route):
            reply = route.fetch()
            if lost:
                route.fulfill(response=reply)
            else:
                lost.append(reply)
                route.abort()

        ann.page.route("**/answer/grade", lose_the_first)
        ann.press("3")
        ann.page.wait_for_function("() => document.getElementById('alert').hidden")
        ann.settle()
        assert lost
        assert ann.done() == 1
        assert len(site.kept()) == 1


def test_two_tabs_of_one_rater_do_not_overrule_each_other(tmp_path, visit):
    write(tmp_path, 5)
    with labelling(tmp_path) as site:
        one, two = visit(site, "Ann"), visit(site, "Ann")
        assert one.card() == two.card()
        one.press("3")
        two.press("0")
        assert "in another window" in two.page.inner_text("#alert")
        assert [a.grade for a in site.kept()] == [3]
        assert two.card() == one.card()  # and it goes on
        two.press("1")
        one.press("1")
        assert [a.grade for a in site.kept()] == [3, 1]


def test_undo_skip_and_note(tmp_path, visit):
    write(tmp_path, 5)
    with labelling(tmp_path) as site:
        ann = visit(site, "Ann")
        first = ann.card()
        ann.press("3")
        assert ann.says() == "Saved: E Exact."
        ann.press("u")
        assert ann.says() == "Taken back. Here it is again."
        assert ann.card() == first
        ann.page.keyboard.press("n")
        ann.page.keyboard.type("3 stripes, u and x are only letters here")
        ann.page.keyboard.press("Escape")
        ann.press("2")
        ann.page.keyboard.press("x")
        ann.page.wait_for_selector("dialog[open]")
        ann.page.keyboard.press("Escape")
        assert not ann.page.query_selector("dialog[open]")
        ann.page.keyboard.press("x")
        ann.press("2")
        assert ann.says() == "Skipped."
        acts = [(a.act.value, a.grade, a.skip, a.note) for a in site.kept()]
        assert acts == [
            ("grade", 3, "", ""),
            ("undo", None, "", ""),
            ("grade", 2, "", "3 stripes, u and x are only letters here"),
            ("skip", None, "product", ""),
        ]


def test_a_held_key_a_shortcut_and_keys_turned_off_grade_nothing(tmp_path, visit):
    write(tmp_path, 5)
    with labelling(tmp_path) as site:
        ann = visit(site, "Ann")
        for keys in ("Control+3", "Alt+3", "7", "q"):
            ann.page.keyboard.press(keys)
        ann.page.evaluate(
            "document.dispatchEvent(new KeyboardEvent('keydown', {key: '3', repeat: true}))"
        )
        ann.page.uncheck("#keys")
        ann.page.keyboard.press("3")
        ann.page.reload()
        ann.page.wait_for_selector("[data-ready]")
        assert not ann.page.is_checked("#keys")
        ann.page.keyboard.press("3")
        ann.page.wait_for_timeout(100)
        assert site.kept() == ()
        ann.page.click("[data-grade='3']")
        ann.page.wait_for_function(
            "() => document.getElementById('status').textContent.includes('Saved')"
        )
        assert len(site.kept()) == 1


def test_another_keyboard_layout_grades_by_the_places_of_the_keys(tmp_path, visit):
    write(tmp_path, 5)
    with labelling(tmp_path) as site:
        ann = visit(site, "Ann")
        for key, code in (("٣", "Digit3"), ('"', "Digit3"), ("\u05d9", "KeyI")):
            ann.page.evaluate(
                "([key, code]) => { document.getElementById('status').textContent = '';"
                "const pressed = new KeyboardEvent('keydown', {key, code, bubbles: true});"
                "document.body.dispatchEvent(pressed) }",
                [key, code],
            )
            ann.settle()
        assert [a.grade for a in site.kept()] == [3, 3, 0]


def test_hostile_text_stays_text(tmp_path, visit):
    first = {"title": HOSTILE, "description": HOSTILE, "image": HOSTILE, "query": HOSTILE}
    write(tmp_path, 3, **first, brand=HOSTILE, need=HOSTILE)
    judge = {"query": HOSTILE, "query_id": "q0", "doc_id": "d0", "grade": 1, "source": "judge",
             "model": HOSTILE, "reason": HOSTILE}  # fmt: skip
    (tmp_path / "judge.jsonl").write_text(json.dumps(judge))
    rubric = (
        '+++\ntag = "odd-v1"\nfloor = 1\nlabel_field = "grade"\nlabel_noun = "grade"\n'
        'candidate_noun = "products"\n[[labels]]\ncode = "Y"\nname = "Yes"\ngrade = 1\n'
        f"positive = [{{ query = {json.dumps(HOSTILE)}, text = {json.dumps(HOSTILE)}, "
        f'why = {json.dumps(HOSTILE)} }}]\n[[labels]]\ncode = "O"\nname = "No"\ngrade = 0\n+++\n'
        f"You are a judge. Classify each as Y (yes) or O (no). {HOSTILE}\n"
    )
    (tmp_path / "odd.md").write_text(rubric)
    words = ("--judge-grades", "judge.jsonl", "--rubric", "odd.md", "--scale", "0-1")
    name = HOSTILE[:60]
    with labelling(tmp_path, *words) as site:
        ann = visit(site, name)
        shown = HOSTILE.replace("\n", " ")
        assert ann.page.inner_text("#query") == shown
        assert ann.page.inner_text("#title") == shown
        assert "not shown here" in ann.card()
        ann.page.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")
        ann.page.fill("#note", HOSTILE)
        ann.page.keyboard.press("Escape")
        ann.press("1")
        ann.press("j")
        assert shown in ann.page.inner_text(".last")
        owner = visit(site, None, role="owner")
        assert name in owner.page.inner_text("#figures")
        back = visit(site, name.upper())
        assert back.done() == 1
        owner.page.wait_for_timeout(200)
        assert [ann.acts, owner.acts, back.acts] == [[], [], []]
        (kept, _) = site.kept()
        assert (kept.note, kept.rater) == (HOSTILE, name.strip())


def test_the_watch_sees_what_a_page_without_escaping_would_do(tmp_path, visit):
    """The planted fault: the same text put in raw; the policy says what it refused."""
    write(tmp_path, 3)
    with labelling(tmp_path) as site:
        ann = visit(site, "Ann")
        ann.page.evaluate("text => { document.getElementById('query').innerHTML = text }", HOSTILE)
        ann.page.wait_for_timeout(300)
        refused = [act for act in ann.acts if "Content Security Policy" in act]
        assert any("img-src" in act for act in refused)
        assert any("inline event handler" in act for act in refused)


def test_the_judges_grade_is_nowhere_until_the_person_has_answered(tmp_path, visit):
    write(tmp_path, 4)
    rows = [
        {"query_id": f"q{i // 3}", "doc_id": f"d{i}", "grade": 0, "source": "judge",
         "model": "m-secret", "reason": f"reason-secret {i}"}
        for i in range(4)
    ]  # fmt: skip
    (tmp_path / "judge.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with labelling(tmp_path, "--judge-grades", "judge.jsonl") as site:
        ann = visit(site, "Ann")
        assert "secret" not in ann.page.content()
        doc = re.search(r"Product (\d+)", ann.card())[1]
        ann.press("3")
        assert "secret" not in ann.page.content()
        ann.press("j")
        last = ann.page.inner_text(".last")
        assert "The judge said: I Irrelevant." in last
        assert f"reason-secret {doc}" in last
        assert ann.page.is_disabled("#undo")
        assert ann.page.content().count("reason-secret") == 1
        assert "m-secret" not in ann.page.content()


def test_a_card_tells_neither_rank_nor_system_nor_id(tmp_path, visit):
    write(tmp_path, 3)
    with labelling(tmp_path) as site:
        ann = visit(site, "Ann")
        html = ann.page.inner_html("#work")
        assert "Product 0" in html
        assert not re.search(r"\bd0\b|\bq0\b|rank|run", html)


def test_a_dispute_goes_to_a_third_and_kappa_to_the_owner_alone(tmp_path, visit):
    write(tmp_path, 2)
    with labelling(tmp_path, "--dual", "1") as site:
        people = [visit(site, name) for name in ("Ann", "Ben")]
        for window, keys in zip(people, ("30", "10"), strict=True):
            for key in keys:
                window.press(key)
        assert "Nothing is left for you" in people[0].card()
        owner = visit(site, None, role="owner")
        figures = owner.page.inner_text("#figures")
        assert "In dispute, waiting for a third\n1" in figures
        assert "Kappa" in figures
        for window in people:
            assert "kappa" not in window.page.content().lower()
            window.page.goto(f"{site.home}/owner")
            assert "this page is for the owner" in window.page.content()
        cem = visit(site, "Cem")
        assert "Product 0" in cem.card()
        cem.press("1")
        owner.page.wait_for_function(
            "() => document.getElementById('figures').innerText.includes('waiting for a third\\n0')"
        )
        assert "Nothing is left for you" in cem.card()


@pytest.mark.parametrize("path", ["/", "/grade?rater=Ann", "/owner", "/owner/figures"])
def test_no_page_opens_without_its_link(path, tmp_path, chromium):
    write(tmp_path, 2)
    with labelling(tmp_path) as site:
        context = chromium.new_context()
        page = context.new_page()
        assert page.goto(site.home + path).status == 403
        assert "Product" not in page.content()
        context.close()


def test_another_site_in_the_same_browser_can_send_nothing(tmp_path, visit):
    """A page of another origin on this very machine, to which the browser sends the cookies."""
    write(tmp_path, 3)
    serve = [
        sys.executable,
        "-m",
        "http.server",
        "--bind",
        "127.0.0.1",
        "0",
        "--directory",
        "other",
    ]
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "index.html").write_text("<title>other</title>")
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with (
        labelling(tmp_path) as site,
        subprocess.Popen(  # noqa: S603 - our own interpreter
            serve, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=tmp_path,
            env=environment,
        ) as other,
    ):  # fmt: skip
        port = re.search(r"port (\d+)", other.stdout.readline())[1]
        ann = visit(site, "Ann")
        pair = ann.page.get_attribute("#card", "data-pair")
        body = {"id": "x1", "rater": "Ann", "pair": pair, "grade": 0}
        ann.page.goto(f"http://127.0.0.1:{port}/")
        sent = ann.page.evaluate(
            "async ([to, body]) => { try { await fetch(to, {method: 'POST', mode: 'no-cors', "
            "credentials: 'include', body}); return 'sent' } "
            "catch (error) { return String(error) } }",
            [f"{site.home}/answer/grade", json.dumps(body)],
        )
        read = ann.page.evaluate(
            "async to => { try { return await (await fetch(to, {credentials: 'include'})).text() } "
            "catch (error) { return String(error) } }",
            f"{site.home}/grade?rater=Ann",
        )
        other.kill()
        assert site.kept() == ()
        assert "Product" not in read
        assert sent in {"sent", "TypeError: Failed to fetch"}


LOOKS = [
    ("light", 1280, "en"),
    ("dark", 1280, "de"),
    ("light", 390, "en"),
    ("dark", 390, "ar"),
]


@pytest.mark.parametrize(("scheme", "width", "lang"), LOOKS)
def test_axe_finds_nothing(scheme, width, lang, tmp_path, visit):
    write(tmp_path, 3, title=HEBREW, query=HEBREW, need="for a wedding")
    phone = {"is_mobile": True, "has_touch": True} if width < 500 else {}
    look = {"color_scheme": scheme, "viewport": {"width": width, "height": 800}, **phone}
    with labelling(tmp_path, "--dual", "1") as site:
        found = {}
        first = visit(site, None, **look)
        found["who"] = first.violations()
        ann, ben = (visit(site, name, lang=lang, **look) for name in ("Ann", "Ben"))
        found["card"] = ann.violations()
        ann.press("3")
        ben.press("0")
        found["last"] = ann.violations()
        wide = ann.page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
        ann.page.click("#open-skip")
        found["skip"] = ann.violations()
        for _ in range(2):
            ben.press("0")
        found["end"] = ben.violations()
        owner = visit(site, None, role="owner", **look)
        found["owner"] = owner.violations()
        assert found == {part: [] for part in found}
        assert not wide
        assert [first.acts, ann.acts, ben.acts, owner.acts] == [[], [], [], []]


def test_axe_sees_a_page_that_is_hard_to_use(tmp_path, visit):
    """The planted fault: an image of unknown meaning, grey on grey, a field without a name."""
    write(tmp_path, 3)
    with labelling(tmp_path) as site:
        ann = visit(site, "Ann")
        ann.page.evaluate(
            "document.getElementById('image').removeAttribute('alt');"
            "document.getElementById('title').setAttribute('style', 'color: #ccc');"
            "document.querySelector('.note-box').open = true;"
            "document.getElementById('title').style.color = '#ccc';"
            "document.getElementById('note').removeAttribute('aria-label');"
        )
        found = {line.split(":")[0] for line in ann.violations()}
        assert {"image-alt", "color-contrast", "label"} <= found


def test_right_to_left_text_is_shown_right_in_either_page(tmp_path, visit):
    write(tmp_path, 3, title=HEBREW, query=HEBREW)
    words = ("--dual", "1")
    side = "e => [getComputedStyle(e).direction, e.getBoundingClientRect().left]"
    with labelling(tmp_path, *words) as site:
        english, arabic = visit(site, "Ann"), visit(site, "Ben", lang="ar")
        assert english.page.eval_on_selector("html", side)[0] == "ltr"
        assert arabic.page.eval_on_selector("html", side)[0] == "rtl"
        for window in (english, arabic):
            assert window.page.eval_on_selector("#query", side)[0] == "rtl"
            assert window.page.eval_on_selector("#title", side)[0] == "rtl"
            assert window.page.eval_on_selector(".price bdi", side)[0] == "ltr"
        arabic.press("3")
        assert arabic.page.eval_on_selector("#title", side)[0] == "ltr"  # Product 1
        image, title = ".picture", ".about"
        left = {w: [w.page.eval_on_selector(s, side)[1] for s in (image, title)] for w in
                (english, arabic)}  # fmt: skip
        assert left[english][0] < left[english][1]
        assert left[arabic][0] > left[arabic][1]


def test_the_focus_goes_to_the_next_card_and_what_happened_is_spoken(tmp_path, visit):
    write(tmp_path, 3)
    with labelling(tmp_path) as site:
        ann = visit(site, "Ann")
        ann.page.keyboard.press("Tab")
        ann.page.keyboard.press("Enter")  # the first button, by keyboard alone
        ann.settle()
        assert ann.says() == "Saved: E Exact."
        assert ann.page.evaluate("document.activeElement.id") == "card"
        assert ann.page.get_attribute("#status", "role") == "status"
        assert ann.page.get_attribute("#alert", "role") == "alert"


def test_an_image_that_does_not_load_is_said(tmp_path, visit):
    write(tmp_path, 2)
    (tmp_path / "images" / "a.png").write_bytes(b"no image")
    with labelling(tmp_path) as site:
        ann = visit(site, "Ann")
        ann.page.wait_for_selector(".picture .note")
        assert "The image did not load." in ann.card()


def test_a_full_disk_is_said_and_nothing_is_counted(tmp_path, visit):
    write(tmp_path, 3)
    with labelling(tmp_path) as site:
        ann = visit(site, "Ann")
        ann.page.route(
            "**/answer/grade",
            lambda route: route.fulfill(status=500, body="answers: cannot be written: no space"),
        )
        ann.page.keyboard.press("3")
        ann.page.wait_for_selector("#alert:not([hidden])")
        assert "Not saved. answers: cannot be written: no space" in ann.page.inner_text("#alert")
        ann.page.unroute("**/answer/grade")
        ann.press("3")
        assert ann.page.is_hidden("#alert")
        assert len(site.kept()) == 1
