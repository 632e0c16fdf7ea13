"""R5: the share of queries that dropped far."""

from __future__ import annotations

from math import inf, nan

import pytest

from relgate.eval.review.types import RuleState, Verdict


@pytest.mark.parametrize(
    ("queries", "dropped", "state"),
    [
        (20, 0, RuleState.PASSED),
        (21, 1, RuleState.PASSED),  # 4.8 %
        (20, 1, RuleState.FAILED),  # 5 % is enough
        (100, 4, RuleState.PASSED),
        (100, 5, RuleState.FAILED),
        (1, 1, RuleState.FAILED),
    ],
)
def test_five_percent_is_carnage(check, evidence, many, *, queries, dropped, state):
    outcome = check("R5", evidence(*many(queries, *[-0.2] * dropped)))
    assert outcome.state is state
    noun = "query" if queries == 1 else "queries"
    assert f"{dropped} of {queries} {noun} (" in outcome.summary


@pytest.mark.parametrize(
    ("delta", "state"), [(-0.1, RuleState.PASSED), (-0.1001, RuleState.FAILED)]
)
def test_a_drop_equal_to_its_limit_passes(check, evidence, many, delta, state):
    assert check("R5", evidence(*many(1, delta, before=0.7))).state is state


def test_the_finding_names_the_dropped_worst_first(check, evidence, many):
    (finding,) = check("R5", evidence(*many(4, -0.2, -0.5))).findings
    assert finding.severity is Verdict.NEEDS_WORK
    assert finding.queries == ("q1", "q0")
    assert finding.figures == {"dropped": 2, "queries": 4, "share": 0.5}
    assert '"q1", "q0"' in finding.advice


def test_the_share_is_of_queries_scored_on_both_sides(check, evidence, many, query):
    apart = [query(f"apart{i}", no_ideal=True) for i in range(20)]
    assert "1 of 19 queries" in check("R5", evidence(*many(19, -0.2), *apart)).summary


def test_without_a_scored_query_it_is_not_checked_and_caps(check, evidence, query):
    outcome = check("R5", evidence(query("a")))
    assert (outcome.state, outcome.cap) == (RuleState.NOT_CHECKED, Verdict.NEEDS_WORK)


def test_settings_override_the_defaults(check, evidence, many):
    found = evidence(*many(10, -0.2))
    assert check("R5", found, max_dropped_share=0.2).state is RuleState.PASSED
    lenient = check("R5", found, query_drop=0.125)
    assert "more than 0.125" in lenient.summary
    assert check("R5", found, query_drop=0.3).state is RuleState.PASSED
    assert check("R5", found, max_dropped_share=0).state is RuleState.FAILED
    assert check("R5", evidence(*many(10)), max_dropped_share=0).state is RuleState.PASSED


def test_a_query_without_a_number_is_in_no_share_and_a_bottomless_drop_is(
    check, evidence, many, query
):
    found = evidence(*many(9), query("lost", nan, 0.5), query("fell", 0.5, -inf), mean=(0.5, 0.5))
    outcome = check("R5", found)
    assert outcome.summary.startswith("1 of 10 queries")
    assert outcome.findings[0].queries == ("fell",)
