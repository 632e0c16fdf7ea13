"""R1: evidence that cannot show a change's damage gives no verdict."""

from __future__ import annotations

import pytest

from relgate.eval.review.change import ChangeDescription, ChangeType
from relgate.eval.review.filters import CheckedCase
from relgate.eval.review.supplied import FilterCase, GroundTruth, Latency, Percentiles
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


# --- types that are judged on more than a ranking metric ---

RECALL = {
    "basis": Basis.GIVEN,
    "settings_before": {"metric": "recall", "k": 10},
    "settings_after": {"metric": "recall", "k": 10},
}
TIMED = Latency(Percentiles(p95_ms=20.0), Percentiles(p95_ms=21.0))
CASE = CheckedCase(
    FilterCase("red shoe", "brand=acme", "non-empty"), held_before=True, held_after=True
)


@pytest.mark.parametrize(
    ("latency", "given", "state"),
    [
        (TIMED, RECALL, RuleState.PASSED),
        (TIMED, {}, RuleState.FAILED),  # NDCG is no recall
        (None, RECALL, RuleState.FAILED),
        (Latency(TIMED.before, None), RECALL, RuleState.FAILED),
        (Latency(TIMED.before, Percentiles(p99_ms=9.0)), RECALL, RuleState.FAILED),
        (TIMED, {**RECALL, "settings_before": {"metric": "dcg"}}, RuleState.FAILED),
        (TIMED, {**RECALL, "settings_before": {}}, RuleState.FAILED),
    ],
)
def test_hnsw_params_need_recall_reports_and_p95_of_both_sides(
    check, evidence, many, *, latency, given, state
):
    described = ChangeDescription(types=(ChangeType.HNSW_PARAMS,), latency=latency)
    assert check("R1", evidence(*many(3), change=described, **given)).state is state


@pytest.mark.parametrize(
    ("truth", "given", "state"),
    [
        (None, RECALL, RuleState.PASSED),  # what is not said of the ground truth is R10's
        (GroundTruth(recall_before=0.9, recall_after=0.9), {}, RuleState.PASSED),
        (GroundTruth(recall_before=0.9), {}, RuleState.FAILED),
        (GroundTruth(recomputed=True, source="production"), {}, RuleState.FAILED),
    ],
)
def test_an_embedding_model_needs_recall_of_both_sides(
    check, evidence, many, *, truth, given, state
):
    described = ChangeDescription(types=(ChangeType.EMBEDDING_MODEL,), ground_truth=truth)
    assert check("R1", evidence(*many(3), change=described, **given)).state is state


@pytest.mark.parametrize(
    ("cases", "given", "state"),
    [
        ((CASE,), {}, RuleState.PASSED),
        ((), {}, RuleState.FAILED),
        ((CASE,), RECALL, RuleState.FAILED),  # filtered relevance is NDCG or MRR
    ],
)
def test_filter_logic_needs_relevance_and_cases(check, evidence, many, *, cases, given, state):
    found = evidence(*many(3), change=change(ChangeType.FILTER_LOGIC), filter_cases=cases, **given)
    assert check("R1", found).state is state


def test_hybrid_weights_without_modes_are_refused_whatever_is_supplied(check, evidence, many):
    described = ChangeDescription(types=(ChangeType.HYBRID_WEIGHTS,), latency=TIMED)
    outcome = check("R1", evidence(*many(3), change=described, filter_cases=(CASE,)))
    assert outcome.findings[0].severity is Verdict.REFUSE
    assert "nDCG@10 and p95 latency and filter cases" in outcome.findings[0].message


@pytest.mark.parametrize("kind", [ChangeType.REWRITER, ChangeType.RERANKER])
@pytest.mark.parametrize(
    ("stage", "state"),
    [
        (None, RuleState.FAILED),
        (("off", "on"), RuleState.PASSED),
        (("on", "off"), RuleState.PASSED),
        (("on", "on"), RuleState.FAILED),  # a tuned stage against itself shows no gain of its own
        (("off", "off"), RuleState.FAILED),
    ],
)
def test_a_stage_is_judged_with_it_on_and_off(check, evidence, many, *, kind, stage, state):
    described = ChangeDescription(types=(kind,), stage=stage)
    assert check("R1", evidence(*many(3), change=described)).state is state
    found = evidence(*many(3), change=described, **RECALL)
    assert check("R1", found).state is RuleState.FAILED  # its gain is one of ranking
