"""R6: the queries that must not suffer."""

from __future__ import annotations

from math import inf, nan

import pytest

from relgate.eval.review.types import Basis, RuleState, Verdict


def test_without_a_head_list_it_is_not_checked_and_caps_nothing(check, evidence, many):
    outcome = check("R6", evidence(*many(3, -0.4)))
    assert (outcome.state, outcome.cap) == (RuleState.NOT_CHECKED, None)


def test_a_head_list_that_names_nobody_checks_nothing(check, evidence, many):
    outcome = check("R6", evidence(*many(3, -0.4), has_heads=True))
    assert outcome.state is RuleState.NOT_CHECKED
    assert "names no query" in outcome.summary


@pytest.mark.parametrize(
    ("after", "state"),
    [
        (0.9, RuleState.PASSED),
        (0.7, RuleState.PASSED),
        (0.65, RuleState.PASSED),  # a drop equal to its limit passes
        (0.6499, RuleState.FAILED),
        (0.1, RuleState.FAILED),
    ],
)
def test_a_head_query_may_not_drop(check, evidence, query, after, state):
    found = evidence(query("a", 0.7, after, head=True), query("b", 0.9, 0.0), has_heads=True)
    assert check("R6", found).state is state


def test_the_finding_says_head_query_and_its_figures(check, evidence, query):
    (finding,) = check(
        "R6", evidence(query("red shoe", 0.84, 0.71, head=True), has_heads=True)
    ).findings
    assert finding.severity is Verdict.NEEDS_WORK
    assert 'head query "red shoe" dropped 0.84 to 0.71 (-0.13)' in finding.message
    assert finding.figures == {"before": 0.84, "after": 0.71, "delta": pytest.approx(-0.13)}
    assert finding.queries == ("red shoe",)


@pytest.mark.parametrize(
    ("was", "now", "state"),
    [
        (1, 3, RuleState.PASSED),
        (1, 4, RuleState.FAILED),
        (3, 4, RuleState.FAILED),
        (3, None, RuleState.FAILED),
        (4, None, RuleState.PASSED),  # it was not at the top before
        (None, None, RuleState.PASSED),
        (None, 1, RuleState.PASSED),
    ],
)
@pytest.mark.parametrize("mark", ["head", "critical"])
def test_the_best_document_must_stay_in_the_top_three(
    check, evidence, query, *, was, now, state, mark
):
    found = query("a", 0.7, 0.7, was={"best_rank": was}, now={"best_rank": now}, **{mark: True})
    outcome = check("R6", evidence(found, has_heads=True))
    assert outcome.state is state
    if outcome.findings:
        assert f'{mark} query "a" was at rank {was}' in outcome.findings[0].message
        assert outcome.findings[0].figures == {"rank_before": was, "rank_after": now}
        assert outcome.findings[0].severity is Verdict.NEEDS_WORK
        place = "now out of the list" if now is None else f"now at rank {now}"
        assert place in outcome.findings[0].message


def test_a_critical_query_is_held_to_ranks_and_not_to_the_drop(check, evidence, query):
    found = query("a", 0.9, 0.6, was={"best_rank": 1}, now={"best_rank": 2}, critical=True)
    assert check("R6", evidence(found, has_heads=True)).state is RuleState.PASSED


def test_without_ranks_a_critical_query_is_held_to_the_drop(check, evidence, query):
    found = evidence(query("a", 0.9, 0.6, critical=True), has_heads=True, basis=Basis.GIVEN)
    outcome = check("R6", found)
    assert 'critical query "a" dropped' in outcome.findings[0].message
    assert "ranks not looked at" in outcome.summary


@pytest.mark.parametrize("mark", ["head", "critical"])
def test_a_marked_query_that_cannot_be_scored_fails(check, evidence, many, query, mark):
    found = evidence(*many(3), query("a", **{mark: True}, no_ideal=True), has_heads=True)
    (finding,) = check("R6", found).findings
    assert (finding.severity, finding.figures["unscored"]) == (Verdict.NEEDS_WORK, 1)
    assert '"a"' in finding.message


def test_a_marked_query_that_is_in_neither_run_fails(check, evidence, many):
    found = evidence(*many(3), has_heads=True, heads_missing=("typo",))
    (finding,) = check("R6", found).findings
    assert finding.figures == {"unscored": 0, "not_in_the_runs": 1}
    assert '"typo"' in finding.message


def test_settings_override_the_defaults(check, evidence, query):
    dropped = evidence(query("a", 0.7, 0.5, head=True), has_heads=True)
    assert check("R6", dropped, head_drop=0.2).state is RuleState.PASSED
    assert "at most 0.125" in check("R6", dropped, head_drop=0.125).findings[0].message
    fallen = query("a", 0.7, 0.7, was={"best_rank": 1}, now={"best_rank": 5}, head=True)
    assert check("R6", evidence(fallen, has_heads=True), top_rank=5).state is RuleState.PASSED


@pytest.mark.parametrize(
    ("after", "state"),
    [(nan, RuleState.FAILED), (-inf, RuleState.FAILED), (inf, RuleState.PASSED)],  # inf is R3's
)
def test_a_head_query_whose_score_is_no_number_does_not_pass_as_unhurt(
    check, evidence, query, after, state
):
    found = evidence(query("a", 0.7, after, head=True), has_heads=True, mean=(0.7, 0.7))
    assert check("R6", found).state is state
