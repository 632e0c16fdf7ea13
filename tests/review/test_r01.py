"""R1: evidence that cannot show a change's damage gives no verdict."""

from __future__ import annotations

import pytest

from relgate.eval.review.change import ChangeDescription, ChangeType
from relgate.eval.review.types import Basis, RuleState, Verdict

RANKING = [
    ChangeType.QUERY_TEMPLATE,
    ChangeType.MAPPINGS,
    ChangeType.ANALYZER,
    ChangeType.SYNONYMS,
]
BEYOND = [kind for kind in ChangeType if kind not in RANKING]


def change(*kinds: ChangeType) -> ChangeDescription:
    return ChangeDescription(types=kinds)


@pytest.mark.parametrize(
    "described", [None, ChangeDescription(), ChangeDescription(intent="improve")]
)
def test_without_a_type_of_change_it_is_not_checked_and_caps_nothing(
    check, evidence, many, described
):
    outcome = check("R1", evidence(*many(3), change=described))
    assert (outcome.state, outcome.cap) == (RuleState.NOT_CHECKED, None)


@pytest.mark.parametrize("kind", RANKING)
def test_a_recomputed_ranking_metric_fits_a_change_of_ranking(check, evidence, many, kind):
    outcome = check("R1", evidence(*many(3), change=change(kind)))
    assert outcome.state is RuleState.PASSED
    assert kind in outcome.summary


@pytest.mark.parametrize("kind", BEYOND)
def test_a_change_that_needs_other_evidence_is_refused(check, evidence, many, kind):
    outcome = check("R1", evidence(*many(3), change=change(kind)))
    assert outcome.state is RuleState.FAILED
    (finding,) = outcome.findings
    assert finding.severity is Verdict.REFUSE
    assert kind in finding.message
    assert finding.advice


def test_one_type_that_does_not_fit_is_enough(check, evidence, many):
    kinds = (ChangeType.SYNONYMS, ChangeType.HNSW_PARAMS, ChangeType.EMBEDDING_MODEL)
    outcome = check("R1", evidence(*many(3), change=change(*kinds)))
    assert [f.severity for f in outcome.findings] == [Verdict.REFUSE] * 2


@pytest.mark.parametrize(
    ("settings", "state"),
    [
        ({"metric": "dcg", "normalized": True}, RuleState.PASSED),
        ({"metric": "dcg"}, RuleState.PASSED),
        ({"metric": "mean_reciprocal_rank"}, RuleState.PASSED),
        ({"metric": "dcg", "normalized": False}, RuleState.FAILED),
        ({"metric": "precision"}, RuleState.FAILED),
        ({"metric": "recall", "k": 10}, RuleState.FAILED),
        ({"metric": "expected_reciprocal_rank"}, RuleState.FAILED),
        ({}, RuleState.NOT_CHECKED),
    ],
)
@pytest.mark.parametrize("kind", RANKING[:3])
def test_given_scores_must_be_ndcg_or_mrr(check, evidence, many, *, kind, settings, state):
    found = evidence(*many(3), change=change(kind), basis=Basis.GIVEN, settings_after=settings)
    assert check("R1", found).state is state


def test_synonyms_take_any_metric_but_need_queries_scored_on_both_sides(check, evidence, query):
    given = {"basis": Basis.GIVEN, "settings_after": {"metric": "precision"}}
    described = change(ChangeType.SYNONYMS)
    assert check("R1", evidence(query("a", 0.5, 0.6), change=described, **given)).state is (
        RuleState.PASSED
    )
    alone = check("R1", evidence(query("a"), change=described, **given))
    assert alone.findings[0].severity is Verdict.REFUSE
