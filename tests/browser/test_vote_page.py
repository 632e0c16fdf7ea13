"""The side-by-side page in Chromium, over a real server: blind, inert, and nothing is lost."""

from __future__ import annotations

import json
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

from relgate.eval.sidebyside.types import Preference, Vote
from relgate.eval.sidebyside.votes import read_votes

HOSTILE = "</q><script>alert(1)</script><img src=http://192.0.2.7/x onerror=alert(2)>{{ 7 * 7 }}"
QUERIES = 6
SECRET = ("run-of-yesterday", "run-of-today")


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    """Two runs over hostile texts, and a catalogue."""
    rows = [
        {"id": f"d{q}-{d}", "title": f"{HOSTILE} {d}", "description": HOSTILE, "image": HOSTILE}
        for q in range(QUERIES)
        for d in range(4)
    ]
    (tmp_path / "catalogue.jsonl").write_text("\n".join(map(json.dumps, rows)))
    texts = [{"query_id": f"q{q}", "query": f"{HOSTILE} {q}"} for q in range(QUERIES)]
    (tmp_path / "queries.jsonl").write_text("\n".join(map(json.dumps, texts)))
    for name, order in zip(SECRET, ((0, 1, 2), (3, 2, 1)), strict=True):
        lines = [
            f"q{q} Q0 d{q}-{d} {rank} {9 - rank} r"
            for q in range(QUERIES)
            for rank, d in enumerate(order, start=1)
        ]
        (tmp_path / f"{name}.trec").write_text("\n".join(lines) + "\n")
    return tmp_path


@contextmanager
def served(folder: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    before, after = (folder / f"{name}.trec" for name in SECRET)
    command = [
        *(sys.executable, "-m", "relgate.eval", "sxs", "serve", "--quiet"),
        *("--before", str(before), "--after", str(after), "--votes", str(folder / "votes.jsonl")),
        *("--queries", str(folder / "queries.jsonl")),
        *("--catalogue", str(folder / "catalogue.jsonl")),
    ]
    with subprocess.Popen(  # noqa: S603 - ours
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder
    ) as process:
        assert process.stdout is not None
        found = re.search(r"http://\S+", process.stdout.readline())
        try:
            assert found, process.stderr.read() if process.stderr else ""
            yield found[0], process
        finally:
            process.kill()


@pytest.fixture
def visit(chromium):
    """Opens a link as a rater; what the page tries beside that is kept."""
    contexts = []

    def opened(link: str, rater: str, **settings):
        context = chromium.new_context(**settings)
        contexts.append(context)
        page, acts = context.new_page(), []
        home = urlsplit(link).netloc
        page.on("request", lambda r: urlsplit(r.url).netloc == home or acts.append(r.url))
        page.on("dialog", lambda d: (acts.append(d.message), d.dismiss()))
        page.on("console", lambda m: acts.append(m.text))
        page.on("pageerror", lambda e: acts.append(str(e)))
        page.goto(link)
        page.fill("#rater", rater)
        page.keyboard.press("Enter")
        page.wait_for_selector(".pair, main p")
        page.wait_for_load_state()  # the script that takes keys comes last
        return page, acts

    yield opened
    for context in contexts:
        context.close()


def press(page, key: str) -> None:
    with page.expect_navigation():
        page.keyboard.press(key)


def answer_all(page, keys: str) -> None:
    for key in keys:
        press(page, key)


def kept(folder: Path) -> list[Vote]:
    return read_votes(folder / "votes.jsonl")[1]


def test_two_raters_vote_by_keyboard_and_hostile_text_stays_text(inputs, visit):
    with served(inputs) as (link, process):
        ann, ann_acts = visit(link, "ann")
        bob, bob_acts = visit(link, f"b <script>alert(3)</script> {'x' * 20}")
        for _ in range(3):
            press(ann, "1")
            press(bob, "2")
        ann.fill("#note", HOSTILE)
        ann.locator("#note").evaluate("e => e.blur()")
        press(ann, "n")
        answer_all(ann, "0s")
        answer_all(bob, "222")
        assert "All 6 queries are answered" in ann.inner_text("h1")
        assert "All 6 queries are answered" in bob.inner_text("h1")
        press(ann, "u") if ann.query_selector("[data-key=u]") else ann.click("text=last answer")
        ann.wait_for_selector(".said")
        assert ann.inner_text(".said").startswith("Skip")
        assert (ann_acts, bob_acts) == ([], [])
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=10)
        assert (process.returncode, said) == (0, "")
    votes = kept(inputs)
    assert len(votes) == 2 * QUERIES
    assert HOSTILE in {vote.note for vote in votes}
    lefts = [v for v in votes if v.rater == "ann"][:3]
    assert all(v.prefers.value == v.left.value for v in lefts)
    rights = [v for v in votes if v.rater != "ann"]
    assert all(v.prefers.value == v.left.other.value for v in rights)


def test_nothing_on_the_page_tells_which_run_is_which(inputs, visit):
    with served(inputs) as (link, _):
        page, _ = visit(link, "ann")
        for _ in range(QUERIES):
            html = page.content()
            assert not [word for word in (*SECRET, "before", "after") if word in html]
            press(page, "0")


def test_a_killed_server_loses_no_answer_and_the_rater_goes_on(inputs, visit):
    with served(inputs) as (link, process):
        page, _ = visit(link, "ann")
        answer_all(page, "120")
        process.kill()
        process.wait(timeout=10)
    first = kept(inputs)
    assert len(first) == 3
    with served(inputs) as (link, _):
        page, _ = visit(link, "ann")
        assert "3 of 6" in page.inner_text(".where")
        answer_all(page, "sss")
    votes = kept(inputs)
    assert votes[:3] == first
    assert [v.prefers for v in votes[3:]] == [Preference.SKIP] * 3
    assert len({v.query_id for v in votes}) == QUERIES


def send(page, fields: str) -> int:
    """What the form would send, by the page itself."""
    return page.evaluate(
        """fields => fetch("/vote", {
            method: "POST", body: fields,
            headers: {"content-type": "application/x-www-form-urlencoded"},
        }).then(r => r.status)""",
        fields,
    )


def test_an_answer_is_changed_and_one_that_is_sent_twice_counts_once(inputs, visit):
    with served(inputs) as (link, _):
        page, _ = visit(link, "ann")
        press(page, "1")
        press(page, "u")
        number = page.get_attribute("[name=number]", "value")
        press(page, "2")
        assert send(page, f"rater=ann&number={number}&choice=right") == 200
    votes = kept(inputs)
    assert [v.prefers.value == v.left.value for v in votes] == [True, False]


@pytest.mark.parametrize(
    "settings", [{}, {"color_scheme": "dark"}, {"viewport": {"width": 360, "height": 740}}]
)
def test_everybody_can_use_it(inputs, visit, settings):
    with served(inputs) as (link, _):
        page, _ = visit(link, "ann", **settings)
        found = Axe().run(page).response["violations"]
        assert [f"{v['id']}: {v['nodes'][0]['html'][:200]}" for v in found] == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.get_by_role("button", name="Both alike").click()
        page.wait_for_selector("text=1 of 6 answered")


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ("rater=ann&number=0&choice=best", 422),
        ("rater=&number=0&choice=left", 422),
        (f"rater={'x' * 61}&number=0&choice=left", 422),
        ("rater=a%E2%80%AEb&number=0&choice=left", 422),
        ("rater=ann&number=6&choice=left", 404),
        ("rater=ann&number=-1&choice=left", 404),
        ("rater=ann&choice=left", 404),
        ("", 422),
    ],
)
def test_an_answer_that_no_page_sends_is_refused_and_not_kept(inputs, visit, fields, status):
    with served(inputs) as (link, _):
        page, _ = visit(link, "ann")
        assert send(page, fields) == status
    assert kept(inputs) == []
