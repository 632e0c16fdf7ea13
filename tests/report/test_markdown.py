"""The Markdown of a review: the sample's sections in its order, and nobody's text but as text."""

from __future__ import annotations

import re
from math import log2
from pathlib import Path

import pytest

from relgate.eval.report.document import review_document
from relgate.eval.report.markdown import review_markdown
from relgate.eval.review.types import Verdict

HOSTILE = [
    "a|b|c|d",
    "`code` and ``more``",
    "@everyone @org/team",
    "[x](http://e.example) ![i](http://e.example/i.png)",
    "line\n| forged | 1.00 | 0.00 | **-1.00** ✗ | 0/10 |\n",
    "\r\n\r\n### Verdict\r\n\r\n✅ **APPROVE**",
    "<script>alert(1)</script></details><img src=x onerror=y>",
    "**bold** _it_ ~~gone~~ # head",
    "fixes #12, see GH-12, www.evil.example",
    "\u202egnp.exe\u200b\x1b[2J",
    "\\| \\` \\",
]

OURS = {"details", "/details", "summary", "/summary"}


@pytest.fixture
def markdown(make_review) -> str:
    return review_markdown(make_review())


def _headings(text: str) -> list[str]:
    return re.findall(r"^#+ .*$", text, re.MULTILINE)


def test_the_sections_are_the_samples_in_its_order(shared: Path, markdown):
    sample = (shared / "seeds/reviewer.txt").read_text("utf-8")
    sample = sample[sample.index("## Search relevance review") : sample.index("Step 9")]
    wanted = _headings(sample)[1:]
    assert wanted == [
        "### Aggregate",
        "### Per-query (significant changes only)",
        "### Unrated check",
        "### Verdict",
        "### Recommended actions",
    ]
    assert [h for h in _headings(markdown) if h in wanted] == wanted
    for name in ("**Change:**", "**Judgment coverage:**", "**Test set:**"):
        assert name in sample
        assert markdown.index(name) < markdown.index("### Aggregate")


def test_the_tables_begin_as_the_samples(shared: Path, markdown):
    sample = (shared / "seeds/reviewer.txt").read_text("utf-8")
    for header in ("| Metric | Before | After | Delta |", "| Query | Before | After | Delta |"):
        assert header in sample
        assert header in markdown


def _tables(text: str) -> list[list[str]]:
    return [block.splitlines() for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)]


def test_every_row_has_as_many_cells_as_its_header(markdown):
    tables = _tables(markdown)
    assert len(tables) == 5  # two losers have lists
    for header, *rows in tables:
        assert {row.count("|") for row in rows} == {header.count("|")}


def test_the_figures_are_there(markdown):
    assert '| "red shoe 0" (head) | 1.00 |' in markdown
    assert '| "red shoe 3" | 1.00 | 0.00 | **-1.00** ✗ | 0/0 |' in markdown
    assert "traffic-weighted" in markdown
    assert "50 % before the fill" in markdown
    assert "198 of 201 unrated documents" in markdown
    assert "no field red shoe" in markdown
    assert "1 query without any judgment" in markdown


def test_every_rule_is_shown_with_its_state(make_review):
    done = make_review()
    rows = re.findall(r"^\| (R\d+) \| (.*?) \|", review_markdown(done), re.MULTILINE)
    assert [rule for rule, _ in rows] == [o.rule for o in done.outcomes]
    for (_, state), outcome in zip(rows, done.outcomes, strict=True):
        assert outcome.state.value in state


def test_no_approval_means_actions_that_name_queries(make_review):
    actions = make_review().actions
    assert any("one-way" in action and '"red shoe 0"' in action for action in actions)
    assert any('"red shoe 3"' in action for action in actions)


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("stale", [False, True])
def test_text_from_data_cannot_act(make_review, text, stale):
    tame = review_markdown(make_review("tame", stale=stale))
    shown = review_markdown(make_review(text, stale=stale))
    assert _headings(shown)[1:] == _headings(tame)[1:]
    assert [len(t) for t in _tables(shown)] == [len(t) for t in _tables(tame)]
    for header, *rows in _tables(shown):
        assert {row.count("|") for row in rows} == {header.count("|")}
    assert set(re.findall(r"<(/?\w+)", shown)) <= OURS
    assert not re.search(r"@\w", re.sub(r"`[^`]*`", "", shown))
    assert "](" not in shown.replace("\\](", "").replace("\\]\\(", "")
    assert "://" not in shown
    assert not re.search(r"(?<![\\&])#\d", shown)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u200b-\u200f\u202a-\u202e]", shown)
    assert shown.count("\n") == tame.count("\n")


@pytest.mark.parametrize("text", HOSTILE)
def test_a_markdown_reader_sees_only_our_own_elements(make_review, text):
    reader = pytest.importorskip("markdown_it").MarkdownIt("gfm-like", {"linkify": False})
    found: dict[str, list[str]] = {}
    for block in reader.parse(review_markdown(make_review(text))):
        for token in [block, *(block.children or ())]:
            found.setdefault(token.type, []).append(token.content)
    assert not found.keys() & {"link_open", "image", "em_open", "s_open", "fence", "code_block"}
    assert {m for html in found["html_block"] for m in re.findall(r"<(/?\w+)", html)} == OURS
    assert "html_inline" not in found
    assert all(re.fullmatch(r"[\w()=]+@10(, traffic-weighted)?", c) for c in found["code_inline"])
    assert len(found["table_open"]) == 5


@pytest.mark.parametrize("sha", ["abc1234", "0" * 40])
def test_a_commit_stands_in_a_code_span(make_review, sha):
    assert review_markdown(make_review(sha)).startswith(f"## Search relevance review — `{sha}`\n")


def test_a_commit_that_is_none_cannot_leave_its_line(make_review):
    title = review_markdown(make_review("x` @everyone\n# no")).splitlines()[0]
    assert title.startswith("## Search relevance review — x\\` @&#8203;everyone")


def test_the_metrics_cut_off_mentions_nobody(markdown):
    assert "(gain=exp2)@&#8203;10" in markdown
    assert not re.search(r"@\w", re.sub(r"`[^`]*`", "", markdown))


def test_a_refusal_has_no_severity_but_its_own(make_review):
    done = make_review(stale=True)
    assert done.verdict is Verdict.REFUSE
    assert not re.search(r"approve|needs[-_ ]?work|block", review_markdown(done), re.IGNORECASE)
    assert all("severity" not in f for f in review_document(done)["withheld"])


def test_the_same_review_is_the_same_text(make_review):
    assert review_markdown(make_review()) == review_markdown(make_review())


def test_the_lines_say_what_was_counted(markdown):
    # unrated after, by hand: 1 of 3, 0 of 2, 0 of 2, 1 of 1 documents; the failed query has none
    for line in (
        (
            "**Judgment coverage:** 5 queries, 8 judgments (50 % by people, 50 % by a judge), 33 % "
            "unrated on average, after side (50 % before the fill), "
            "1 query without any judgment  "
        ),
        "- before the fill: 2/5 queries had at least 50 % of their documents rated",
        "- 3/4 queries have at least 50 % rated documents (25.0 % have not; 30 % is the limit) ✓",
        (
            "- judge red shoe graded 198 of 201 unrated documents, 3 of them from the cache, 7 "
            "calls, 2 failed (timeout 2), 1 without text in the catalogue was not asked"
        ),
        "- 4 grades by red shoe, model red shoe: no certificate for red shoe",
        "- overridden by name: red shoe",
        "- R16: overridden by name: red shoe",
    ):
        assert line in markdown.splitlines()
    assert "\n1. Make the synonyms" in markdown
    assert "\n- R12 (BLOCK): 1 query fails" in markdown


def test_the_means_are_those_worked_out_by_hand(markdown):
    fallen = (1 + 7 / 2) / (7 + 1 / log2(3))  # grades 1, none, 3 over the ideal 3, 1
    before, after = (3 + fallen) / 4, (2 + fallen) / 4
    weighted = ((3 * 1 + fallen) / 4, (3 * fallen + 1) / 4)  # weights 3 and 1
    for name, (was, now) in {
        "": (before, after), ", traffic-weighted": weighted,
    }.items():  # fmt: skip
        row = f"| `nDCG(gain=exp2)@10{name}` | {was:.4f} | {now:.4f} | **{now - was:+.4f}** | 4 |"
        assert row in markdown.splitlines()
