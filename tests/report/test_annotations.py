"""GitHub annotations: one line each, and no text from data that acts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from relgate.eval.report.annotations import MAX_ANNOTATIONS, review_annotations
from relgate.eval.report.escape import heeds_commands, inert_in_ci
from relgate.eval.review.types import Finding, RuleOutcome, RuleState, Verdict


def _of(done, *findings: Finding, verdict: Verdict = Verdict.BLOCK):
    outcome = RuleOutcome("R5", RuleState.FAILED, "s", findings)
    return review_annotations(replace(done, verdict=verdict, outcomes=(outcome,)))


def test_what_blocks_is_an_error_and_what_needs_work_a_warning(make_review):
    lines = review_annotations(make_review())
    levels = [line.split(" ")[0] for line in lines]
    assert levels == sorted(levels)  # ::error before ::warning
    assert any(
        line.startswith("::error title=relgate R12 failures::1 query fails") for line in lines
    )
    assert any(line.startswith("::warning title=relgate R5 carnage::") for line in lines)


def test_nothing_to_say_is_nothing_said(make_review):
    done = make_review()
    assert review_annotations(replace(done, verdict=Verdict.APPROVE, outcomes=())) == []


def test_a_refusal_is_an_error_without_other_verdicts(make_review):
    done = make_review(stale=True)
    lines = review_annotations(done)
    assert len(lines) == len(done.deciding)
    assert all(line.startswith("::error title=relgate R") for line in lines)


def test_a_rule_that_caps_the_verdict_is_a_warning(make_review):
    open_ = RuleOutcome("R8", RuleState.NOT_CHECKED, "no hits", cap=Verdict.NEEDS_WORK)
    done = replace(make_review(), verdict=Verdict.NEEDS_WORK, outcomes=(open_,))
    assert review_annotations(done) == [
        "::warning title=relgate R8 unrated::not checked, which caps the verdict: no hits"
    ]


def test_a_finding_in_a_file_stands_at_its_line(make_review):
    found = Finding("R5", Verdict.BLOCK, "m", {"file": "a,b:c%.txt", "line": 7})
    (line,) = _of(make_review(), found)
    assert line == "::error title=relgate R5 carnage,file=a%2Cb%3Ac%25.txt,line=7::m"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("50 % done", "50 %25 done"),
        ("a\n::error::forged", "a%0A::error::forged"),
        ("a\r\nb", "a\\x0d%0Ab"),
        ("\x1b[2J\u202e", "\\x1b[2J\\u202e"),
    ],
)
def test_text_from_data_stays_on_its_line(make_review, text, shown):
    (line,) = _of(make_review(), Finding("R5", Verdict.BLOCK, text))
    assert line == f"::error title=relgate R5 carnage::{shown}"


@pytest.mark.parametrize(("n", "kept"), [(9, 9), (10, 10), (11, 9), (300, 9)])
def test_what_github_would_drop_is_counted(make_review, n, kept):
    lines = _of(make_review(), *(Finding("R5", Verdict.BLOCK, f"m{i}") for i in range(n)))
    assert len(lines) == min(n, MAX_ANNOTATIONS)
    assert sum("::m" in line for line in lines) == kept
    if n > MAX_ANNOTATIONS:
        assert lines[-1].endswith(f"::{n - kept} more findings in review.json")


@pytest.mark.parametrize("text", ["::error::x", " ::add-mask::x", "##[error]x", "##vso[task x]"])
def test_a_printed_text_is_no_command(text):
    shown = inert_in_ci(text)
    assert "::" not in shown
    assert "##" not in shown


def test_logs_that_are_read_for_commands_are_known():
    assert not heeds_commands({})
    assert not heeds_commands({"CI": "true", "GITHUB_ACTIONS": ""})
    for name in ("GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION"):
        assert heeds_commands({name: "true"})
