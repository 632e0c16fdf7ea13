"""The sentences that the outputs share."""

from __future__ import annotations

from dataclasses import replace
from math import nan

import pytest

from relgate.eval.lists.types import Query
from relgate.eval.report import phrases
from relgate.eval.review.change import ChangeDescription, ChangeType
from relgate.eval.review.types import Evidence, QueryEvidence, Review, Side, Unrated


@pytest.fixture(scope="module")
def review(make_review) -> Review:
    return make_review()


@pytest.fixture(scope="module")
def evidence(review) -> Evidence:
    return review.evidence


def _moved(*deltas: float, head: int = -1) -> tuple[QueryEvidence, ...]:
    return tuple(
        QueryEvidence(Query(f"q{i}"), Side(0.5), Side(0.5 + delta), head=i == head)
        for i, delta in enumerate(deltas)
    )


def test_ten_on_each_side_are_shown_and_the_rest_counted(evidence):
    ups = [0.06 + 0.01 * i for i in range(13)]
    downs = [-0.06 - 0.01 * i for i in range(12)]
    shown, rest = phrases.significant(replace(evidence, queries=_moved(*ups, *downs)))
    assert len(shown) == 20
    assert [q.query.id for q in rest] == ["q14", "q13", "q2", "q1", "q0"]  # losers first
    assert [q.query.id for q in shown[:2]] == ["q12", "q11"]  # best rise first
    assert [q.query.id for q in shown[10:12]] == ["q24", "q23"]  # then worst fall first


def test_a_head_query_that_moved_at_all_is_among_them(evidence):
    downs = [-0.06 - 0.01 * i for i in range(12)]
    shown, rest = phrases.significant(replace(evidence, queries=_moved(*downs, head=0)))
    assert shown[-1].head
    assert (len(shown), len(rest)) == (11, 1)
    small, _ = phrases.significant(replace(evidence, queries=_moved(0.01, -0.02, 0.0, head=1)))
    assert [q.query.id for q in small] == ["q1"]


@pytest.mark.parametrize(("delta", "n"), [(0.05, 0), (0.0501, 1), (-0.05, 0), (-0.0501, 1)])
def test_significant_is_more_than_five_hundredths(evidence, delta, n):
    found = replace(evidence, queries=(QueryEvidence(Query("a"), Side(0.0), Side(delta)),))
    assert len(phrases.significant(found)[0]) == n


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (None, "not described"),
        (ChangeDescription(), "not described (type not given)"),
        (
            ChangeDescription(
                (ChangeType.SYNONYMS, ChangeType.ANALYZER), "neutral", "jogging added"
            ),
            "jogging added (synonyms, analyzer; intent: neutral)",
        ),
    ],
)
def test_the_change_in_its_authors_words(evidence, change, said):
    assert phrases.change_line(replace(evidence, change=change)) == said


def _unrated(review: Review, now: Unrated, *, bare: int = 0) -> list[str]:
    coverage = replace(review.evidence.coverage, now=now, at_first=None)
    queries = tuple(
        QueryEvidence(Query(f"q{i}"), Side(0.5, returned=1), Side(0.0)) for i in range(bare)
    )
    found = replace(review.evidence, coverage=coverage, queries=queries)
    return phrases.unrated_lines(replace(review, evidence=found))


def test_the_unrated_check_in_each_state(review):
    all_rated = Unrated(known=True, mean_before=0.0, mean_after=0.0, queries=7, mostly=0, empty=0)
    assert _unrated(review, all_rated) == [
        "7/7 queries have at least 50 % rated documents (0.0 % have not; 30 % is the limit) ✓"
    ]
    assert _unrated(review, replace(all_rated, mostly=2, empty=2), bare=2) == [
        "5/7 queries have at least 50 % rated documents (28.6 % have not; 30 % is the limit) ✓",
        '2 return nothing after the change: "q0", "q1"',
    ]
    over = _unrated(review, replace(all_rated, mostly=3))
    assert over[0].endswith("(42.9 % have not; 30 % is the limit) ✗")
    assert 'q4" and 2 more' in _unrated(review, replace(all_rated, empty=7), bare=7)[1]
    assert _unrated(review, replace(all_rated, queries=0, mean_after=nan))[0].endswith("✗")
    assert _unrated(review, replace(all_rated, known=False)) == [
        "the files do not say which documents are unrated"
    ]


def test_what_is_not_known_is_no_percentage(evidence):
    unknown = replace(evidence.coverage.now, known=False)
    assert "unrated" not in phrases.coverage_line(replace(evidence.coverage, now=unknown))
    nothing = replace(evidence.coverage.now, mean_after=nan)
    assert "nan" not in phrases.coverage_line(replace(evidence.coverage, now=nothing))


def test_a_fill_without_faults_says_no_more_than_it_did(evidence):
    clean = replace(
        evidence.fill, judge="baseline", asked=1200, graded=1200, cached=0, errors={},
        no_text=0, calls=None, not_asked=0,
    )  # fmt: skip
    said = phrases.fill_line(replace(evidence, fill=clean))
    assert said == "judge baseline graded 1,200 of 1,200 unrated documents"
    assert phrases.fill_line(replace(evidence, fill=None)) is None
