"""The Markdown fits in one comment, and what is cut is counted."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from relgate.eval.lists.types import Query
from relgate.eval.report.markdown import MAX_CHARS, review_markdown
from relgate.eval.review.types import Finding, QueryEvidence, Review, RuleOutcome, Side, Verdict

GITHUB_LIMIT = 65_536
WORST = "@" * 3000  # an escape makes nine characters of each


def _grown(done: Review, n: int, text: str) -> Review:
    """The review with `n` queries that fell, `n` heads, findings, warnings and actions."""
    queries = tuple(
        QueryEvidence(
            Query(f"q{i}", f"{text} {i}"), Side(0.9), Side(0.1 + i / (9 * n)), head=i % 2 == 0
        )
        for i in range(n)
    )
    notes = tuple(f"{text} note {i}" for i in range(n))
    found = [Finding("R5", Verdict.NEEDS_WORK, f"{text} {i}") for i in range(min(n, 300))]
    return replace(
        done,
        headline=text,
        actions=notes,
        outcomes=tuple(
            RuleOutcome(o.rule, o.state, f"{text} {o.summary}", (*o.findings, *found))
            for o in done.outcomes
        ),
        evidence=replace(
            done.evidence, queries=queries, warnings=notes, cross_checks=notes, overrides=notes
        ),
    )


def test_a_report_that_fits_is_not_cut(make_review):
    text = review_markdown(make_review())
    assert "more in review.json" not in text
    assert "…" not in text


@pytest.mark.parametrize("text", ["red shoe", WORST, "|" * 500, "漢" * 300, "\u202e" * 400])
@pytest.mark.parametrize("n", [60, 5000])
def test_it_fits_whatever_is_in_it(make_review, text, n):
    shown = review_markdown(_grown(make_review(), n, text))
    assert len(shown) <= MAX_CHARS < GITHUB_LIMIT
    assert len(re.findall(r"^\| R\d+ \|", shown, re.MULTILINE)) == 19  # no rule is left out
    assert "**BLOCK**" in shown
    assert shown.count("<details>") == shown.count("</details>")


def test_shown_and_left_out_add_up(make_review):
    done = _grown(make_review(), 5000, "red shoe")
    shown = review_markdown(done)
    (folded,) = re.findall(r"<summary>([\d,]+) more queries moved", shown)
    tables = re.findall(r"(?:^\| \"red.*\n)+", shown, re.MULTILINE)
    assert len(tables) == 2
    first, rest = (len(table.splitlines()) for table in tables)
    cut = [
        int(n.replace(",", ""))
        for n in re.findall(r"^([\d,]+) more queries in review\.json", shown, re.MULTILINE)
    ]
    assert first + rest + sum(cut) == 5000
    assert int(folded.replace(",", "")) == rest + cut[-1]
    (findings,) = re.findall(r"<summary>Findings \(([\d,]+)\)</summary>\n\n((?:- .*\n)+)", shown)
    listed = findings[1].splitlines()
    (more,) = re.findall(r"- ([\d,]+) more in review\.json", listed[-1])
    assert len(listed) - 1 + int(more.replace(",", "")) == int(findings[0].replace(",", ""))


def test_the_rest_of_those_that_moved_is_folded(make_review):
    shown = review_markdown(_grown(make_review(), 60, "red shoe"))
    assert "<details><summary>" in shown
    assert shown.count('| "red shoe ') == 60


def test_a_name_from_a_file_cannot_leave_its_code_span(make_review):
    done = make_review()
    main = replace(done.evidence.main, name="x` | <b>@everyone")
    found = replace(done.evidence, aggregates=(main,))
    rows = re.findall(r"^\| x.*$", review_markdown(replace(done, evidence=found)), re.MULTILINE)
    assert rows[0].startswith("| x\\` &#124; &lt;b&gt;@&#8203;everyone |")
