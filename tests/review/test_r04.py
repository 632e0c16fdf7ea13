"""R4: the mean of the primary metric, at its limits."""

from __future__ import annotations

from math import nan

import pytest

from relgate.eval.review.change import ChangeDescription
from relgate.eval.review.types import RuleState, Verdict

NEUTRAL = ChangeDescription(intent="neutral")
IMPROVE = ChangeDescription(intent="improve")


@pytest.mark.parametrize(
    ("after", "severity"),
    [
        (0.489, Verdict.BLOCK),
        (0.4899, Verdict.BLOCK),
        (0.49, Verdict.NEEDS_WORK),  # a drop equal to its limit is no block
        (0.5, Verdict.NEEDS_WORK),
        (0.5199, Verdict.NEEDS_WORK),
        (0.52, None),  # an improvement equal to its limit is one
        (0.6, None),
    ],
)
@pytest.mark.parametrize("change", [None, ChangeDescription(), IMPROVE])
def test_drop_flat_and_improvement(check, evidence, many, *, after, severity, change):
    outcome = check("R4", evidence(*many(3), mean=(0.5, after), change=change))
    assert outcome.state is (RuleState.PASSED if severity is None else RuleState.FAILED)
    assert [f.severity for f in outcome.findings] == ([] if severity is None else [severity])


@pytest.mark.parametrize(
    ("after", "state"),
    [(0.49, RuleState.PASSED), (0.5, RuleState.PASSED), (0.489, RuleState.FAILED)],
)
def test_flat_is_what_a_neutral_change_should_be_but_a_drop_is_not(
    check, evidence, many, after, state
):
    assert check("R4", evidence(*many(3), mean=(0.5, after), change=NEUTRAL)).state is state


def test_the_figures_are_in_the_finding(check, evidence, many):
    (finding,) = check("R4", evidence(*many(3), mean=(0.5, 0.46))).findings
    assert finding.figures == {"before": 0.5, "after": 0.46, "delta": pytest.approx(-0.04)}
    assert "0.5000 to 0.4600 (-0.0400)" in finding.message
    assert "at most 0.01 is allowed" in finding.message


def test_only_an_unstated_intent_is_asked_for(check, evidence, many):
    (unsaid,) = check("R4", evidence(*many(3))).findings
    (said,) = check("R4", evidence(*many(3), change=IMPROVE)).findings
    assert "neutral" in unsaid.advice
    assert said.advice is None


@pytest.mark.parametrize("mean", [(nan, 0.5), (0.5, nan), (nan, nan)])
def test_a_mean_that_is_no_number_fails_closed(check, evidence, many, mean):
    outcome = check("R4", evidence(*many(3), mean=mean, change=NEUTRAL))
    assert outcome.findings[0].severity is Verdict.BLOCK


def test_settings_override_the_defaults(check, evidence, many):
    dropped = evidence(*many(3), mean=(0.5, 0.46))
    assert check("R4", dropped, max_mean_drop=0.05).findings[0].severity is Verdict.NEEDS_WORK
    risen = evidence(*many(3), mean=(0.5, 0.505))
    assert check("R4", risen, min_improvement=0.005).state is RuleState.PASSED
    assert "+0.025 or more" in check("R4", risen, min_improvement=0.025).findings[0].message
