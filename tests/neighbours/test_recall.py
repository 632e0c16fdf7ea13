"""Recall@k of what came back against the exact neighbours; what is missing is never left out."""

from __future__ import annotations

import pytest

from relgate.eval.lists.types import Query
from relgate.eval.neighbours.recall import ExactLists, recall_at_k, recall_run
from relgate.eval.runs.types import Run
from relgate.rubrics.errors import InputError


def exact(docs, scores=None) -> ExactLists:
    found = tuple(map(tuple, docs.values()))
    given = scores or {}
    return ExactLists(tuple(map(Query, docs)), found, tuple(given.get(q) for q in docs), "ab12")


def run(docs, **rest) -> Run:
    listed = tuple(None if d is None else tuple(d) for d in docs.values())
    return Run("ann", tuple(map(Query, docs)), listed, **rest)


@pytest.mark.parametrize(
    ("returned", "recall"),
    [("abc", 1.0), ("cba", 1.0), ("abx", 2 / 3), ("xyz", 0.0), ("", 0.0), ("xyzabc", 0.0),
     ("aabc", 1.0), ("aab", 2 / 3)],
)  # fmt: skip
def test_it_is_the_share_of_the_k_nearest_that_was_found(returned, recall):
    right = exact({"q": "abc"}).right(0, 3)
    assert recall_at_k(list(returned), right, k=3) == pytest.approx(recall)


def test_any_document_that_ties_with_the_kth_counts_and_no_more_than_k():
    right = exact({"q": "abcd"}, {"q": (0.9, 0.5, 0.5, 0.5)}).right(0, 2)
    assert recall_at_k(["a", "d"], right, k=2) == 1.0
    assert recall_at_k(["c", "d"], right, k=2) == 1.0  # beside a, b alone would be as near
    assert recall_at_k(["d", "x"], right, k=2) == 0.5


def test_scores_that_fall_below_the_kth_are_no_tie():
    assert exact({"q": "abcd"}, {"q": (0.9, 0.5, 0.5, 0.4)}).right(0, 2) == {"a", "b", "c"}


def test_a_deeper_list_without_scores_is_cut_at_k():
    assert exact({"q": "abcd"}).right(0, 2) == {"a", "b"}


def test_with_fewer_documents_than_k_the_share_is_of_those():
    assert recall_at_k(["a"], exact({"q": "a"}).right(0, 10), k=10) == 1.0


def test_a_run_becomes_a_recall_report():
    found = recall_run(run({"p": "ab", "q": "ax"}), exact({"p": "ab", "q": "ab"}), 2)
    assert (found.given.metric, found.given.k, found.given.metric_score) == ("recall", 2, 0.75)
    assert found.given.queries["q"].metric_score == 0.5
    assert found.docs == (("a", "b"), ("a", "x"))


def test_a_query_that_the_run_lacks_has_failed():
    found = recall_run(run({"p": "ab"}), exact({"p": "ab", "q": "ab"}), 2)
    assert found.failures.keys() == {"q"}


def test_a_failed_query_stays_failed():
    found = recall_run(
        run({"p": "ab", "q": None}, failures={"q": "timeout"}), exact({"p": "ab", "q": "ab"}), 2
    )
    assert found.failures == {"q": "timeout"}


def test_queries_beside_the_sample_are_left_out_and_that_is_said():
    found = recall_run(run({"p": "ab", "z": "ab", "y": "ab"}), exact({"p": "ab"}), 2)
    assert [q.id for q in found.queries] == ["p"]
    assert found.notes == ("2 of its 3 queries have no exact neighbours, and are left out",)


@pytest.mark.parametrize(
    ("docs", "said"),
    [({"z": "ab"}, "none of its queries"), ({"p": None}, "no documents of 'p' are listed")],
)
def test_a_run_that_cannot_be_held_against_them_is_refused(docs, said):
    with pytest.raises(InputError, match=said):
        recall_run(run(docs), exact({"p": "ab"}), 2)
