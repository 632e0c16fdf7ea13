"""R18: a regression cannot hide by trading one metric for another."""

from __future__ import annotations

from math import inf, nan

import pytest

from relgate.eval.review.types import Aggregate, RuleState, Verdict


def second(key: str, after: float) -> Aggregate:
    return Aggregate(key, key, 0.5, after, 3)


@pytest.mark.parametrize(
    ("key", "after", "severity"),
    [
        ("mrr", 0.6, None),
        ("mrr", 0.49, None),  # a drop equal to its budget passes
        ("mrr", 0.4899, Verdict.NEEDS_WORK),
        ("mrr", 0.47, Verdict.NEEDS_WORK),
        ("mrr", 0.4699, Verdict.BLOCK),
        ("precision", 0.48, None),
        ("precision", 0.4799, Verdict.NEEDS_WORK),
        ("precision", 0.46, Verdict.NEEDS_WORK),
        ("precision", 0.4599, Verdict.BLOCK),
        ("mrr", nan, Verdict.BLOCK),
        ("mrr", inf, Verdict.BLOCK),
        ("precision", -inf, Verdict.BLOCK),
    ],
)
def test_budgets(check, evidence, many, *, key, after, severity):
    outcome = check("R18", evidence(*many(3), others=[second(key, after)]))
    assert [f.severity for f in outcome.findings] == ([] if severity is None else [severity])
    assert outcome.state is (RuleState.PASSED if severity is None else RuleState.FAILED)


def test_the_finding_has_metric_delta_and_budget(check, evidence, many):
    (finding,) = check("R18", evidence(*many(3), others=[second("mrr", 0.4)])).findings
    assert finding.figures == {"metric": "mrr", "delta": pytest.approx(-0.1), "budget": 0.03}
    assert "0.5000 to 0.4000" in finding.message


def test_the_primary_metric_is_r4s(check, evidence, many):
    alone = evidence(*many(3), aggregates=(second("mrr", 0.1),))
    outcome = check("R18", alone)
    assert (outcome.state, outcome.cap) == (RuleState.NOT_CHECKED, None)


def test_metrics_without_a_budget_are_not_held_to_one(check, evidence, many):
    others = [second("recall", 0.1), second("hit", 0.1), second("judged", 0.1)]
    assert check("R18", evidence(*many(3), others=others)).state is RuleState.NOT_CHECKED


def test_settings_override_the_defaults(check, evidence, many):
    found = evidence(*many(3), others=[second("mrr", 0.48), second("precision", 0.45)])
    lenient = check(
        "R18", found, mrr_soft_drop=0.02, precision_soft_drop=0.03, precision_hard_drop=0.05
    )
    assert [f.severity for f in lenient.findings] == [Verdict.NEEDS_WORK]
    assert check("R18", found, mrr_hard_drop=0.01).findings[0].severity is Verdict.BLOCK
