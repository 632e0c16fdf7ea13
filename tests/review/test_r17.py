"""R17: whether the delta can be told from chance."""

from __future__ import annotations

from math import nan

import pytest

from relgate.eval.review.change import ChangeDescription
from relgate.eval.review.types import Noise, RuleState, Verdict

IMPROVE = ChangeDescription(intent="improve")


def noise(p: float, n: int = 30) -> Noise:
    return Noise(p=p, low=-0.01, high=0.05, detectable=0.04, n=n)


def test_a_delta_that_stands_passes_with_its_figures(check, evidence, many):
    outcome = check("R17", evidence(*many(30), mean=(0.5, 0.52), noise=noise(0.01), change=IMPROVE))
    assert outcome.state is RuleState.PASSED
    for figure in ("+0.0200", "[-0.0100, +0.0500]", "p 0.010", "0.0400", "(n 30)"):
        assert figure in outcome.summary
    assert "inside the noise" not in outcome.summary
    assert outcome.findings == ()


@pytest.mark.parametrize("p", [0.05, 0.5, 1.0, nan])
def test_a_claimed_improvement_inside_the_noise_needs_work(check, evidence, many, p):
    outcome = check("R17", evidence(*many(30), noise=noise(p), change=IMPROVE))
    (finding,) = outcome.findings
    assert (outcome.state, finding.severity) == (RuleState.FAILED, Verdict.NEEDS_WORK)
    assert "inside the noise" in finding.message
    assert finding.figures["detectable"] == 0.04


@pytest.mark.parametrize("change", [None, ChangeDescription(), ChangeDescription(intent="neutral")])
def test_unclaimed_it_is_a_note_that_says_how_to_replay_steadily(check, evidence, many, change):
    outcome = check("R17", evidence(*many(30), noise=noise(0.5), change=change))
    assert outcome.state is RuleState.PASSED
    assert outcome.summary.endswith("inside the noise")
    (note,) = outcome.findings
    assert note.severity is Verdict.APPROVE
    assert "preference" in note.message
    assert "sort on a unique field" in note.message


def test_under_thirty_queries_it_is_not_checked(check, evidence, many):
    outcome = check("R17", evidence(*many(29), noise=noise(0.01, n=29), change=IMPROVE))
    assert (outcome.state, outcome.cap) == (RuleState.NOT_CHECKED, None)
    assert outcome.summary == "29 queries scored on both sides; 30 are needed"


def test_one_query_is_counted_as_one(check, evidence, many):
    assert check("R17", evidence(*many(1))).summary.startswith("1 query scored")


def test_deltas_without_a_spread_are_not_checked(check, evidence, many):
    assert check("R17", evidence(*many(30), noise=None)).state is RuleState.NOT_CHECKED


def test_details_that_are_not_the_whole_set_are_not_checked(check, evidence, many):
    found = evidence(*many(30), noise=noise(0.5), covers_all=False, change=IMPROVE)
    outcome = check("R17", found)
    assert outcome.state is RuleState.NOT_CHECKED
    assert "not the whole query set" in outcome.summary


def test_settings_override_the_defaults(check, evidence, many):
    found = evidence(*many(10), noise=noise(0.08, n=10), change=IMPROVE)
    assert check("R17", found, min_noise_queries=10).state is RuleState.FAILED
    assert check("R17", found, min_noise_queries=10, max_p=0.1).state is RuleState.PASSED
