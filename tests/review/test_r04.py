"""R4: the mean of the primary metric, at its limits."""

from __future__ import annotations

from math import inf, nan

import pytest

from relgate.eval.metrics.conventions import Conventions
from relgate.eval.review.change import ChangeDescription
from relgate.eval.review.types import Aggregate, RuleState, Verdict

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


@pytest.mark.parametrize("bad", [inf, -inf])
def test_a_mean_that_is_infinite_fails_closed_too(check, evidence, many, bad):
    outcome = check("R4", evidence(*many(3), mean=(0.5, bad), change=NEUTRAL))
    assert outcome.findings[0].severity is Verdict.BLOCK


# --- binary labels: MRR and P@k are both primary (reference/rules.md section 2) ---


def binary(evidence, many, mrr: float, precision: float, **rest):
    """MRR and P@k, which both stood at 0.5 before."""
    both = (
        Aggregate("mrr", "RR@10", 0.5, mrr, 3),
        Aggregate("precision", "P@10", 0.5, precision, 3),
    )
    return evidence(*many(3), aggregates=both, **rest)


@pytest.mark.parametrize(
    ("mrr", "precision", "severity"),
    [
        (0.52, 0.5, None),  # one improves, the other holds
        (0.5, 0.52, None),
        (0.52, 0.49, None),  # a drop equal to its limit holds
        (0.5, 0.5, Verdict.NEEDS_WORK),
        (0.5199, 0.5199, Verdict.NEEDS_WORK),
        (0.6, 0.4899, Verdict.BLOCK),  # no trade of one for the other
        (0.4899, 0.6, Verdict.BLOCK),
        (0.5, nan, Verdict.BLOCK),
    ],
)
def test_with_binary_labels_a_drop_of_either_blocks(
    check, evidence, many, *, mrr, precision, severity
):
    outcome = check("R4", binary(evidence, many, mrr, precision))
    assert [f.severity for f in outcome.findings] == ([] if severity is None else [severity])
    assert "RR@10" in outcome.summary
    assert "P@10" in outcome.summary


def test_each_primary_metric_that_dropped_is_a_finding_with_its_figures(check, evidence, many):
    first, second = check("R4", binary(evidence, many, 0.4, 0.3)).findings
    assert (first.figures["after"], second.figures["after"]) == (0.4, 0.3)
    assert "P@10 0.5000 to 0.3000" in second.message


def test_with_binary_labels_p_at_k_is_not_r18s_too(check, evidence, many):
    outcome = check("R18", binary(evidence, many, 0.5, 0.4))
    assert outcome.state is RuleState.NOT_CHECKED


def test_with_graded_labels_p_at_k_is_r18s(check, evidence, many):
    graded = evidence(*many(3), others=[Aggregate("precision", "P@10", 0.5, 0.4, 3)])
    assert check("R4", graded).findings[0].severity is Verdict.NEEDS_WORK
    assert check("R18", graded).findings[0].severity is Verdict.BLOCK


def test_a_list_of_binary_grades_gates_on_both(make_list, make_run, reviewed, outcome):
    grades = {f"q{i}": {"a": 1, "b": 1, "c": 0} for i in range(4)}
    judged = make_list(grades, scale="0-1")
    before, after = (make_run(dict.fromkeys(grades, d)) for d in (("a", "b", "c"), ("a", "c")))
    done = reviewed(judged, before, after, conventions=Conventions(floor=1))
    assert [a.key for a in done.evidence.primary] == ["mrr", "precision"]
    assert done.evidence.main.delta == 0
    (finding,) = outcome(done, "R4").findings
    assert (finding.severity, round(finding.figures["delta"], 4)) == (Verdict.BLOCK, -0.1)
    assert done.headline.startswith("aggregate dropped, +0.0000")
    assert "P(floor=1)@10 -0.1000" in done.headline
