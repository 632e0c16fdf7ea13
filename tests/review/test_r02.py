"""R2: two sides that were measured in two ways, or on other queries, are not compared."""

from __future__ import annotations

from math import nan

import pytest

from relgate.eval.review.types import Basis, RankedDoc, RuleState, Verdict
from relgate.rubrics.errors import InputError


def test_the_same_queries_and_settings_pass_and_the_shared_settings_are_named(
    check, evidence, many
):
    same = {"metric": "dcg", "k": 10}
    outcome = check("R2", evidence(*many(3), settings_before=same, settings_after=dict(same)))
    assert outcome.state is RuleState.PASSED
    assert outcome.summary.startswith("3 query ids on both sides")
    assert "agree on k, metric" in outcome.summary


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("metric", "dcg", "precision"),
        ("k", 10, 20),
        ("normalized", False, True),
        ("gain", "exp2", "linear"),
        ("relevant_rating_threshold", 1, 2),
        ("judgments_sha256", "ab12", "cd34"),
        ("golden_version", "v3", "v4"),
        ("floor", nan, nan),  # what is no number equals nothing
    ],
)
def test_a_setting_that_differs_is_refused_with_both_values(
    check, evidence, many, *, name, before, after
):
    outcome = check(
        "R2",
        evidence(*many(3), settings_before={name: before}, settings_after={name: after}),
    )
    (finding,) = outcome.findings
    assert (outcome.state, finding.severity) == (RuleState.FAILED, Verdict.REFUSE)
    assert f"{name} {before!r} before, {after!r} after" in finding.message
    assert finding.figures[name]["after"] is after


def test_a_setting_stated_on_one_side_only_is_not_compared_and_that_is_said(check, evidence, many):
    found = evidence(*many(3), basis=Basis.GIVEN, settings_after={"k": 10})
    outcome = check("R2", found)
    assert outcome.state is RuleState.PASSED
    assert "settings were not compared" in outcome.summary


@pytest.mark.parametrize("side", ["was", "now"])
def test_a_query_on_one_side_only_is_refused_by_name(check, evidence, query, side):
    other = query("kept", 0.5, 0.5)
    outcome = check("R2", evidence(other, query("lost", 0.5, 0.5, **{side: {"absent": True}})))
    (finding,) = outcome.findings
    assert finding.severity is Verdict.REFUSE
    assert finding.queries == ("lost",)
    assert finding.figures == {
        "side": {"was": "before", "now": "after"}[side], "absent": 1, "queries": 2,
    }  # fmt: skip


def test_a_query_that_moved_to_failures_is_not_its_business(check, evidence, query):
    moved = query("b", 0.8, 0.0, now={"error": "parsing_exception", "returned": 0})
    assert check("R2", evidence(query("a", 0.5, 0.6), moved)).state is RuleState.PASSED


@pytest.mark.parametrize(
    "was",
    [{"error": "timeout", "returned": 0}, {"returned": 0}, {"absent": True, "returned": 0}],
    ids=["failed", "empty", "absent"],
)
def test_a_before_side_that_answered_nothing_is_no_baseline(check, evidence, query, was):
    dead = [query(name, 0.0, 0.9, was=was) for name in "abc"]
    finding = check("R2", evidence(*dead)).findings[-1]
    assert finding.severity is Verdict.REFUSE
    assert "answered none of its 3 queries" in finding.message


def test_one_answer_before_is_a_baseline(check, evidence, query):
    dead = query("a", 0.0, 0.9, was={"error": "timeout", "returned": 0})
    assert check("R2", evidence(dead, query("b", 0.5, 0.9))).state is RuleState.PASSED


def test_no_query_at_all_is_no_baseline(check, evidence):
    assert check("R2", evidence()).findings[0].severity is Verdict.REFUSE


def test_files_that_do_not_tell_what_came_back_are_taken_to_have_answered(check, evidence, query):
    bare = {"returned": 0, "unrated_known": False}
    assert check("R2", evidence(query("a", 0.5, 0.6, was=bare, now=bare))).state is RuleState.PASSED


def test_two_equal_sides_are_said_to_be_equal(check, evidence, query):
    docs = (RankedDoc("d1", 3), RankedDoc("d2", 1))
    same = query("a", 0.5, 0.5, was={"top": docs}, now={"top": docs})
    moved = query("b", 0.5, 0.5, was={"top": docs}, now={"top": docs[::-1]})
    assert "the same documents in the same order" in check("R2", evidence(same)).summary
    assert "the same documents" not in check("R2", evidence(same, moved)).summary
    assert "the same documents" not in check("R2", evidence(query("c", 0.5, 0.5))).summary


def test_one_list_of_documents_with_two_scores_is_refused(check, evidence, query):
    docs = (RankedDoc("d1", 3), RankedDoc("d2", 1))
    both = {"was": {"top": docs}, "now": {"top": docs}}
    kept, moved = query("kept", 0.5, 0.5, **both), query("moved", 0.5, 0.6, **both)
    (finding,) = check("R2", evidence(kept, moved, basis=Basis.GIVEN)).findings
    assert finding.severity is Verdict.REFUSE
    assert finding.queries == ("moved",)
    assert "1 of the 2 queries" in finding.message
    assert finding.figures["delta"] == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("length", "settings", "state"),
    [
        (2, {}, RuleState.FAILED),  # the list ends there
        (10, {}, RuleState.PASSED),  # it may go on below our depth
        (10, {"k": 10}, RuleState.FAILED),
        (10, {"k": 5}, RuleState.FAILED),
        (10, {"k": 20}, RuleState.PASSED),
        (0, {"k": 10}, RuleState.PASSED),  # nothing is listed
    ],
)
def test_only_a_list_that_is_whole_contradicts_its_score(
    check, evidence, query, *, length, settings, state
):
    docs = tuple(RankedDoc(f"d{i}") for i in range(length))
    found = query("a", 0.5, 0.6, was={"top": docs}, now={"top": docs})
    given = {"basis": Basis.GIVEN, "settings_before": settings, "settings_after": settings}
    assert check("R2", evidence(found, **given)).state is state


def test_rounding_is_no_other_score(check, evidence, query):
    docs = (RankedDoc("d1"),)
    found = query("a", 0.5, 0.5 + 1e-7, was={"top": docs}, now={"top": docs})
    assert check("R2", evidence(found, basis=Basis.GIVEN)).state is RuleState.PASSED


def _listing(query, name, before, after):
    docs = tuple(RankedDoc(f"d{i}") for i in range(10))
    moved = tuple(reversed(docs[:after]))
    return query(name, 0.5, 0.6, was={"top": docs[:before]}, now={"top": moved})


@pytest.mark.parametrize(("before", "after"), [(5, 10), (10, 5)])
def test_sides_that_were_cut_at_different_depths_are_refused(check, evidence, query, before, after):
    found = [_listing(query, f"q{i}", before, after) for i in range(10)]
    (finding,) = check("R2", evidence(*found)).findings
    assert finding.severity is Verdict.REFUSE
    assert finding.figures == {"before": before, "after": after}
    assert "replay both sides to depth 10" in finding.advice


def test_the_depth_of_a_side_is_that_of_its_longest_list(check, evidence, query):
    lengths = [(5, 10)] * 9 + [(3, 10), (5, 4)]
    found = [_listing(query, f"q{i}", *both) for i, both in enumerate(lengths)]
    (finding,) = check("R2", evidence(*found)).findings
    assert finding.figures == {"before": 5, "after": 10}
    assert "at most 5 documents a query, the after side 10" in finding.message


@pytest.mark.parametrize(
    "lengths",
    [
        [(10, 10)] * 12,
        [(5, 5)] * 12,
        [(5, 10)] * 9,  # too few to tell
        [(5, 10)] * 5 + [(4, 10)] * 6,  # they ended where they ended
        [(5, 10)] * 12 + [(10, 10)],
        [(0, 10)] * 12,  # nothing listed
    ],
)
def test_lists_that_ended_by_themselves_are_compared(check, evidence, query, lengths):
    found = [_listing(query, f"q{i}", *both) for i, both in enumerate(lengths)]
    assert check("R2", evidence(*found)).state is RuleState.PASSED


@pytest.mark.parametrize(
    ("before", "after", "differ"),
    [
        ({"metric": {"precision": {"k": 10, "relevant_rating_threshold": 1}}},
         {"metric": {"precision": {"k": 10, "relevant_rating_threshold": 2}}},
         "relevant_rating_threshold 1 before, 2 after"),
        ({"metric": "ndcg@10", "judgments_sha256": "ab12"},
         {"metric": "ndcg@10", "judgments_sha256": "cd34"},
         "judgments_sha256 'ab12' before, 'cd34' after"),
        ({"metric": "ndcg@10", "golden_version": 3}, {"metric": "ndcg@10", "golden_version": 4},
         "golden_version 3 before, 4 after"),
        ({"metric": {"mean_reciprocal_rank": {"k": 5}}},
         {"metric": {"mean_reciprocal_rank": {"k": 10}}}, "k 5 before, 10 after"),
        ({"metric": "ndcg@10", "gain": "exp2"}, {"metric": "ndcg@10", "gain": "linear"},
         "gain 'exp2' before, 'linear' after"),
    ],
)  # fmt: skip
def test_what_the_files_say_of_their_measurement_is_compared(
    rank_eval, reviewed, outcome, *, before, after, differ
):
    scores = {"a": 0.5, "b": 0.6}
    files = (rank_eval(name, scores, **top) for name, top in (("b", before), ("a", after)))
    (finding,) = outcome(reviewed(None, *files), "R2").findings
    assert finding.severity is Verdict.REFUSE
    assert differ in finding.message


def test_what_only_one_file_says_is_not_compared(rank_eval, reviewed, outcome):
    scores = {"a": 0.5, "b": 0.6}
    one = rank_eval("one", scores, metric="ndcg@10", golden_version=3)
    two = rank_eval("two", scores, metric="ndcg@10")
    assert outcome(reviewed(None, one, two), "R2").state is RuleState.PASSED


def test_metadata_of_another_shape_is_bad_input(rank_eval):
    with pytest.raises(InputError, match="golden_version"):
        rank_eval("odd", {"a": 0.5}, golden_version=[1])
