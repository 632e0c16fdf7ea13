"""R7: a mean that rises over many queries that fall."""

from __future__ import annotations

from math import inf, nan

import pytest

from relgate.eval.review.types import RuleState, Verdict


@pytest.mark.parametrize(
    ("worse", "state"),
    [(0, RuleState.PASSED), (1, RuleState.PASSED), (2, RuleState.FAILED)],
)
def test_more_than_ten_percent_worse_is_masked(check, evidence, many, worse, state):
    outcome = check("R7", evidence(*many(10, *[-0.01] * worse), mean=(0.5, 0.6)))
    assert outcome.state is state
    assert f"{worse} of 10 queries" in outcome.summary


@pytest.mark.parametrize("after", [0.5, 0.4])
def test_a_mean_that_did_not_improve_masks_nothing(check, evidence, many, after):
    outcome = check("R7", evidence(*many(10, *[-0.2] * 9), mean=(0.5, after)))
    assert outcome.state is RuleState.PASSED
    assert "masks nothing" in outcome.summary


def test_rounding_is_neither_worse_nor_better(check, evidence, many):
    assert check("R7", evidence(*many(10, *[-1e-10] * 9), mean=(0.5, 0.6))).state is (
        RuleState.PASSED
    )
    assert check("R7", evidence(*many(10, *[-0.2] * 9), mean=(0.5, 0.5 + 1e-10))).state is (
        RuleState.PASSED
    )


def test_the_finding_has_its_figures_and_names_who_pays(check, evidence, many):
    (finding,) = check("R7", evidence(*many(4, -0.1, -0.3), mean=(0.5, 0.6))).findings
    assert finding.severity is Verdict.NEEDS_WORK
    assert finding.figures == {"worse": 2, "queries": 4, "share": 0.5}
    assert '"q1", "q0"' in finding.advice
    assert "+0.1000" in finding.message


def test_without_a_scored_query_it_is_not_checked_and_caps(check, evidence, query):
    outcome = check("R7", evidence(query("a"), mean=(0.5, 0.6)))
    assert (outcome.state, outcome.cap) == (RuleState.NOT_CHECKED, Verdict.NEEDS_WORK)


def test_settings_override_the_default(check, evidence, many):
    found = evidence(*many(10, -0.1, -0.1), mean=(0.5, 0.6))
    assert check("R7", found, max_masked_share=0.2).state is RuleState.PASSED
    assert check("R7", evidence(*many(10, -0.1), mean=(0.5, 0.6)), max_masked_share=0.05).state is (
        RuleState.FAILED
    )


@pytest.mark.parametrize("mean", [nan, inf, -inf])
def test_a_mean_that_is_no_number_is_not_taken_for_one_that_fell(check, evidence, many, mean):
    found = evidence(*many(10, -0.1, -0.1), mean=(0.5, mean))
    assert check("R7", found).state is RuleState.FAILED


def test_a_query_without_a_number_is_in_no_share(check, evidence, many, query):
    found = evidence(*many(9, -0.1), query("lost", nan, 0.5), mean=(0.5, 0.6))
    assert check("R7", found).summary.startswith("1 of 9 queries (11.1 %)")


def test_thousands_are_set_apart_in_every_count(check, evidence, many):
    outcome = check("R7", evidence(*many(2_000, *[-0.2] * 1_009), mean=(0.5, 0.6)))
    assert "1,009 of 2,000 queries" in outcome.summary
    assert "and 1,004 more" in outcome.findings[0].advice
