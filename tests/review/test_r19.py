"""R19: a judge that failed too often gives no verdict."""

from __future__ import annotations

from dataclasses import replace

import pytest

from relgate.eval.review.types import FillFacts, RuleState, Verdict


def fill(asked: int, graded: int, **errors: int) -> FillFacts:
    return FillFacts(
        judge="fake", asked=asked, graded=graded, cached=0, errors=errors, no_text=0,
        calls=1, seconds=0.1,
    )  # fmt: skip


def test_without_a_fill_it_passes(check, evidence, many):
    assert check("R19", evidence(*many(3))).state is RuleState.PASSED


@pytest.mark.parametrize(
    ("asked", "graded", "state"),
    [
        (0, 0, RuleState.PASSED),
        (100, 100, RuleState.PASSED),
        (100, 98, RuleState.PASSED),  # 2 % is not more than 2 %
        (100, 97, RuleState.FAILED),
        (1, 0, RuleState.FAILED),
    ],
)
def test_more_than_two_percent_failed_is_refused(check, evidence, many, *, asked, graded, state):
    outcome = check("R19", evidence(*many(3), fill=fill(asked, graded)))
    assert outcome.state is state
    assert f"{asked - graded} of {asked}" in outcome.summary


def test_the_finding_names_the_kinds_of_error(check, evidence, many):
    found = evidence(*many(3), fill=fill(10, 4, timeout=5, refused=1))
    (finding,) = check("R19", found).findings
    assert finding.severity is Verdict.REFUSE
    assert "refused 1, timeout 5" in finding.message
    assert finding.figures == {
        "error_rate": 0.6, "asked": 10, "errors": {"timeout": 5, "refused": 1},
    }  # fmt: skip


def test_settings_override_the_default(check, evidence, many):
    found = evidence(*many(3), fill=fill(100, 95, timeout=5))
    assert check("R19", found, max_error_rate=0.05).state is RuleState.PASSED
    assert check("R19", evidence(*many(3), fill=fill(100, 99)), max_error_rate=0).state is (
        RuleState.FAILED
    )


@pytest.mark.parametrize(
    ("asked", "left", "state"),
    [
        (10, {"not_asked": 1}, RuleState.FAILED),  # it stopped
        (10, {"no_text": 7}, RuleState.PASSED),  # without text they stay unrated: R8 counts them
    ],
)
def test_a_fill_that_did_not_come_to_its_end_needs_work(
    check, evidence, many, *, asked, left, state
):
    done = replace(fill(asked, asked), **left)
    outcome = check("R19", evidence(*many(3), fill=done))
    assert outcome.state is state
    for finding in outcome.findings:
        assert finding.severity is Verdict.NEEDS_WORK
        assert finding.figures["gaps"] == asked + sum(left.values())
