"""R3: no figure that is not a finite number passes."""

from __future__ import annotations

from math import inf, nan

import pytest

from relgate.eval.review.types import Aggregate, RuleState, Verdict


def test_finite_figures_pass(check, evidence, many):
    outcome = check("R3", evidence(*many(4)))
    assert outcome.state is RuleState.PASSED
    assert "4 scored queries" in outcome.summary


@pytest.mark.parametrize("bad", [nan, inf, -inf])
@pytest.mark.parametrize("at", [0, 1])
def test_a_mean_that_is_no_number_is_refused(check, evidence, many, bad, at):
    mean = [0.5, 0.5]
    mean[at] = bad
    outcome = check("R3", evidence(*many(4), mean=tuple(mean)))
    assert outcome.state is RuleState.FAILED
    assert outcome.findings[0].severity is Verdict.REFUSE
    assert str(bad) in outcome.findings[0].message


def test_also_a_secondary_mean(check, evidence, many):
    other = Aggregate("mrr", "RR@10", 0.5, nan, 4)
    assert check("R3", evidence(*many(4), others=[other])).findings[0].severity is Verdict.REFUSE


@pytest.mark.parametrize("bad", [nan, inf, -inf])
@pytest.mark.parametrize("side", ["before", "after"])
def test_a_query_without_a_finite_score_is_refused_by_name(
    check, evidence, many, query, *, bad, side
):
    lost = query("lost", **{"before": 0.5, "after": 0.5, side: bad})
    outcome = check("R3", evidence(*many(4), lost, mean=(0.5, 0.5)))
    assert outcome.findings[0].queries == ("lost",)
    assert outcome.findings[0].severity is Verdict.REFUSE


@pytest.mark.parametrize("mark", ["no_ideal", "unjudged"])
def test_a_query_without_a_score_by_definition_is_no_fault(check, evidence, many, query, mark):
    assert check("R3", evidence(*many(4), query("a", **{mark: True}))).state is RuleState.PASSED


@pytest.mark.parametrize("side", ["was", "now"])
def test_an_absent_query_is_left_to_r2(check, evidence, many, query, side):
    gone = query("a", 0.5, **{side: {"absent": True}})
    assert check("R3", evidence(*many(4), gone)).state is RuleState.PASSED


def test_a_failed_query_without_a_score_has_no_excuse(check, evidence, many, query):
    dead = query("a", was={"error": "x"}, now={"error": "x"})
    assert check("R3", evidence(*many(4), dead)).state is RuleState.FAILED


def test_scores_that_can_only_be_zero_are_refused(check, evidence, query):
    hollow = [query(name, 0.0, 0.0, no_ideal=True) for name in "abc"]
    outcome = check("R3", evidence(*hollow))
    assert "none of the 3 scored queries has a judgment above grade 0" in (
        outcome.findings[0].message
    )
    assert check("R3", evidence(*hollow, query("d", 0.2, 0.2))).state is RuleState.PASSED
