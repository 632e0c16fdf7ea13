"""R10: an embedding upgrade has ground truth of its own, from production, and no less recall."""

from __future__ import annotations

from dataclasses import replace
from math import inf, nan

import pytest

from relgate.eval.lists.types import Query
from relgate.eval.neighbours.recall import ExactLists
from relgate.eval.review.change import ChangeDescription, ChangeType
from relgate.eval.review.supplied import GroundTruth
from relgate.eval.review.types import Basis, RuleState, Verdict

GOOD = GroundTruth(
    recomputed=True,
    model="new-embedding-v2",
    source="production sample",
    recall_before=0.90,
    recall_after=0.90,
)
REPORTS = {
    "basis": Basis.GIVEN,
    "settings_before": {"metric": "recall", "k": 10},
    "settings_after": {"metric": "recall", "k": 10},
}


def upgrade(truth: GroundTruth | None) -> ChangeDescription:
    return ChangeDescription(types=(ChangeType.EMBEDDING_MODEL,), ground_truth=truth)


def severities(outcome):
    return [f.severity for f in outcome.findings]


def test_new_ground_truth_from_production_with_recall_kept_passes(check, evidence, many):
    outcome = check("R10", evidence(*many(3), change=upgrade(GOOD)))
    assert outcome.state is RuleState.PASSED
    assert "computed anew with new-embedding-v2" in outcome.summary
    assert "0.9000 to 0.9000" in outcome.summary


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ({"recomputed": False}, "reused the ground truth"),
        ({"recomputed": None}, "nothing says"),
        ({"source": None}, "source of the ground truth is not stated"),
        ({"recall_after": None}, "not stated on both sides"),
        ({"recall_before": None}, "not stated on both sides"),
        ({"recall_after": nan}, "not a finite number"),
        ({"recall_before": inf}, "not a finite number"),
    ],
)
def test_reused_or_unstated_ground_truth_refuses(check, evidence, many, fault, told):
    outcome = check("R10", evidence(*many(3), change=upgrade(replace(GOOD, **fault))))
    assert severities(outcome) == [Verdict.REFUSE]
    assert told in outcome.findings[0].message


@pytest.mark.parametrize(("hashes", "refused"), [(("one", "one"), True), (("one", "two"), False)])
def test_one_file_of_exact_neighbours_cannot_serve_two_models(
    check, evidence, many, hashes, refused
):
    exact = tuple(ExactLists((Query("q0"),), (("a",),), (None,), sha256) for sha256 in hashes)
    outcome = check("R10", evidence(*many(3), change=replace(upgrade(GOOD), exact=exact)))
    assert severities(outcome) == [Verdict.REFUSE] * refused
    assert ["same exact neighbours" in f.message for f in outcome.findings] == [True] * refused


def test_no_word_of_it_refuses_for_all_three(check, evidence, many):
    outcome = check("R10", evidence(*many(3), change=upgrade(None)))
    assert severities(outcome) == [Verdict.REFUSE] * 3


@pytest.mark.parametrize(
    ("source", "state"),
    [
        ("production sample", RuleState.PASSED),
        ("Prod, July", RuleState.PASSED),
        ("10k queries of the search log", RuleState.PASSED),
        ("live traffic of one week", RuleState.PASSED),
        ("production sample, not synthetic, no GloVe", RuleState.PASSED),
        ("GloVe-100", RuleState.FAILED),
        ("SIFT1M", RuleState.FAILED),
        ("sift-128-euclidean", RuleState.FAILED),
        ("synthetic queries", RuleState.FAILED),
        ("synthetic queries made from the production log", RuleState.FAILED),
        ("ann-benchmarks", RuleState.FAILED),
        ("our test file", RuleState.FAILED),
        ("not from production", RuleState.FAILED),
        ("catalogue", RuleState.FAILED),  # holds "log" and says nothing
    ],
)
def test_the_source_must_name_production_and_no_benchmark(check, evidence, many, source, state):
    outcome = check("R10", evidence(*many(3), change=upgrade(replace(GOOD, source=source))))
    assert outcome.state is state
    assert set(severities(outcome)) <= {Verdict.REFUSE}


@pytest.mark.parametrize(
    ("after", "state"), [(0.9, RuleState.PASSED), (0.95, RuleState.PASSED), (0.899, "failed")]
)
def test_stated_recall_below_the_baseline_blocks(check, evidence, many, after, state):
    outcome = check("R10", evidence(*many(3), change=upgrade(replace(GOOD, recall_after=after))))
    assert outcome.state == state
    assert set(severities(outcome)) <= {Verdict.BLOCK}


def test_recall_reports_are_recall_too_and_a_fall_of_either_blocks(check, evidence, many):
    unstated = replace(GOOD, recall_before=None, recall_after=None)
    kept = check("R10", evidence(*many(3), change=upgrade(unstated), **REPORTS))
    assert kept.state is RuleState.PASSED
    fell = evidence(*many(3), mean=(0.95, 0.94), change=upgrade(GOOD), **REPORTS)
    assert severities(check("R10", fell)) == [Verdict.BLOCK]


def test_a_relevance_score_is_no_recall(check, evidence, many):
    unstated = replace(GOOD, recall_before=None, recall_after=None)
    ranking = {**REPORTS, "settings_after": {"metric": "dcg"}}
    outcome = check("R10", evidence(*many(3), change=upgrade(unstated), **ranking))
    assert severities(outcome) == [Verdict.REFUSE]


@pytest.mark.parametrize(
    "change",
    [
        None,
        ChangeDescription(),
        ChangeDescription(types=(ChangeType.SYNONYMS,), ground_truth=GroundTruth(recomputed=False)),
    ],
)
def test_other_changes_are_not_checked_and_cap_nothing(check, evidence, many, change):
    outcome = check("R10", evidence(*many(3), change=change))
    assert (outcome.state, outcome.cap) == (RuleState.NOT_CHECKED, None)
