"""The judge as one more rater: worse than people, like them, or not to be told."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from relgate.eval.agreement.calibrate import Terms, calibrate_pairs
from relgate.eval.agreement.certificate import make_certificate
from relgate.eval.agreement.pairs import GradedPairs, JudgeIdentity
from relgate.eval.agreement.people import judge_among_people, votes_in
from relgate.eval.agreement.policy import POLICIES, Level
from relgate.eval.agreement.ratings import (
    Ratings,
    pairwise_agreement,
    rater_agreement,
    ratings_of_votes,
    recorded_grades,
)
from relgate.eval.lists.raters import Conflict, Vote
from relgate.eval.lists.types import SCALES, Query
from relgate.rubrics.errors import InputError


def simulated(rng, *, queries=120, each=5, people=3, noise=0.7, judge_noise=0.7, shift=0.0):
    """People and a judge who see the same latent relevance, each with an error of its own."""
    n = queries * each
    truth = rng.normal(1.5, 1.0, n)
    seen = truth[:, None] + rng.normal(0, noise, (n, people))
    judged = truth + rng.normal(shift, judge_noise, n)

    def grade(x):
        return np.clip(np.rint(x), 0, 3).astype(int)

    ratings = Ratings(
        grade(seen),
        tuple(f"p{i}" for i in range(people)),
        np.repeat(np.arange(queries), each),
        tuple(f"q{i}" for i in range(queries)),
        tuple(f"d{i}" for i in range(n)),
        4,
    )
    return ratings, grade(judged)


def test_a_judge_that_errs_as_people_do_is_not_told_from_them():
    ratings, judge = simulated(np.random.default_rng(1))
    found = judge_among_people(ratings, judge)
    over = found.figures["over_people"]
    assert over.low < 0 < over.high
    assert (found.units, found.queries, found.undefined) == (600, 120, None)


@pytest.mark.parametrize("fault", [{"judge_noise": 1.6}, {"shift": 1.0}])
def test_a_judge_that_errs_more_or_is_lenient_is_found_worse(fault):
    ratings, judge = simulated(np.random.default_rng(2), **fault)
    found = judge_among_people(ratings, judge)
    assert found.figures["over_people"].high < 0
    assert found.figures["alpha_with_judge"].point < found.figures["alpha_people"].point


def test_a_judge_that_always_says_one_thing_is_far_below_people():
    ratings, _ = simulated(np.random.default_rng(3))
    found = judge_among_people(ratings, np.full(600, 2))
    assert found.figures["judge_kappa_quadratic"].point <= 0
    assert found.figures["over_people"].high < -0.3


def test_only_pairs_that_two_people_and_the_judge_graded_count():
    ratings, judge = simulated(np.random.default_rng(4))
    grades = ratings.grades.copy()
    grades[:100, 1:] = -1  # one person alone
    gaps = np.where(np.arange(600) >= 500, -1, judge)
    found = judge_among_people(ratings.with_rater("x", np.full(600, -1)).only(ratings.raters), gaps)
    assert found.units == 500
    few = Ratings(grades, ratings.raters, ratings.query, ratings.queries, ratings.doc_ids, 4)
    found = judge_among_people(few, gaps)
    assert (found.units, found.units_of_people, found.queries) == (400, 500, 80)


def test_without_common_pairs_it_is_undefined_and_says_why():
    ratings, judge = simulated(np.random.default_rng(5), queries=4)
    none = judge_among_people(ratings, np.full(20, -1))
    assert (
        none.undefined == "undefined: the judge graded none of the 20 pairs that two people graded"
    )
    alone = judge_among_people(ratings.only(["p0"]), judge)
    assert alone.undefined == "undefined: no pair was graded by two people or more"
    for found in (none, alone):
        assert all(f.point is None and f.low is None for f in found.figures.values())


def test_one_query_gives_points_and_no_interval():
    ratings, judge = simulated(np.random.default_rng(6), queries=1, each=40)
    over = judge_among_people(ratings, judge).figures["over_people"]
    assert over.point is not None
    assert (over.low, over.high) == (None, None)
    found = rater_agreement(ratings)
    assert found.errors_over == "units"
    assert found.errors["alpha_ordinal"] > 0


def test_grades_of_another_length_are_refused():
    ratings, judge = simulated(np.random.default_rng(7), queries=2)
    with pytest.raises(InputError, match="9 grades of the judge for 10 units"):
        judge_among_people(ratings, judge[:9])


@pytest.mark.parametrize(
    ("grades", "why"),
    [
        (np.full((4, 2), 1), "undefined: every grade is 1"),
        (np.array([[1, -1], [-1, 2]]), "undefined: no two raters graded the same pair"),
        (np.array([[1], [2]]), "undefined: 1 rater, and agreement takes two"),
    ],
)
def test_degenerate_ratings_say_why_they_are_undefined(grades, why):
    n = len(grades)
    ratings = Ratings(
        grades, tuple("ab"[: grades.shape[1]]), np.arange(n), tuple(map(str, range(n))),
        tuple(map(str, range(n))), 4,
    )  # fmt: skip
    found = rater_agreement(ratings)
    assert found.undefined.startswith(why)
    assert found.figures["alpha_ordinal"].point is None


def test_votes_become_columns_and_grades_of_nobody_are_passed_over():
    votes = (
        Conflict("q1", "red shoes", "d1", (Vote("ann", 3), Vote("bob", 2), Vote(None, 0))),
        Conflict("q1", "red shoes", "d2", (Vote("bob", 1), Vote("ann", 1))),
        Conflict("q2", "lamp", "d1", (Vote(None, 3), Vote(None, 2))),
    )
    ratings = ratings_of_votes(votes, n_grades=4)
    assert ratings.raters == ("ann", "bob")
    assert ratings.grades.tolist() == [[3, 2], [1, 1]]
    assert ratings.queries == ("q1",)
    (pair,) = pairwise_agreement(ratings)
    assert (pair.one, pair.two, pair.pairs, pair.same) == ("ann", "bob", 2, 0.5)


def test_recorded_grades_meet_by_query_and_document(make):
    labels = make.labels([("q1", "d1", 3), ("q2", "d1", 0)])
    votes = (
        Conflict("q1", "text of q1", "d1", (Vote("ann", 3), Vote("bob", 2))),
        Conflict("q2", "text of q2", "d1", (Vote("ann", 0), Vote("bob", 1))),
    )
    ratings = ratings_of_votes(votes, n_grades=4)
    assert recorded_grades(ratings, labels, make.labels([("q2", "d1", 2)])).tolist() == [-1, 2]
    with pytest.raises(InputError, match="no pair that several people graded"):
        recorded_grades(ratings, labels, make.labels([("q9", "d1", 2)]))
    with pytest.raises(InputError, match="bring both onto one scale"):
        recorded_grades(ratings, labels, make.labels([("q2", "d1", 1)], scale="0-1"))


MADE = datetime(2026, 11, 30, tzinfo=UTC)


def calibrated(ratings, judge, *, people=2, margin=0.05, **policy):
    """The judge against the first rater's labels, beside the first `people` raters."""
    pairs = GradedPairs(
        query=ratings.query,
        human=ratings.grades[:, 0],
        judge=judge,
        queries=tuple(Query(name) for name in ratings.queries),
        doc_ids=ratings.doc_ids,
        sources={"human": len(ratings)},
    )
    votes = {
        (ratings.queries[q], doc): dict(zip(ratings.raters, map(int, row[:people]), strict=False))
        for q, doc, row in zip(ratings.query, ratings.doc_ids, ratings.grades, strict=True)
    }
    terms = Terms(policy=replace(POLICIES["people"], people_margin=margin, **policy), votes=votes)
    return calibrate_pairs(pairs, scale=SCALES["0-3"], terms=terms,
                           judge=JudgeIdentity("esci-v1@0123abcd", "f" * 16))  # fmt: skip


def test_a_judge_as_good_as_a_third_rater_is_trusted_under_the_policy_people():
    ratings, _ = simulated(np.random.default_rng(8), queries=500)
    third = ratings.grades[:, 2]
    found = calibrated(ratings, third)
    assert found.level is Level.TRUSTED, found.reasons
    assert found.n_people == 2500
    assert any("over that of two people" in reason for reason in found.reasons)
    certificate = make_certificate(found, now=MADE)
    assert certificate.policy_terms["people_margin"] == 0.05
    assert certificate.figures["over_people"].low == round(found.figures["over_people"].low, 6)
    # absolute bars above what these people reach with each other fail the same judge
    absolute = calibrated(ratings, third, f1_bar=0.8, quadratic_kappa_bar=0.75)
    assert absolute.level is Level.UNTRUSTED


@pytest.mark.parametrize("fault", [{"judge_noise": 1.2}, {"shift": 0.8}])
def test_a_judge_worse_than_people_is_not_trusted_under_the_policy_people(fault):
    ratings, judge = simulated(np.random.default_rng(9), queries=500, **fault)
    found = calibrated(ratings, judge)
    assert found.level is Level.UNTRUSTED
    assert "over that of two people" in found.reasons[0]


def test_few_pairs_of_two_raters_leave_it_provisional_and_say_how_many_more():
    ratings, _ = simulated(np.random.default_rng(10), queries=24)
    found = calibrated(ratings, ratings.grades[:, 2], beat_constant=False)
    assert found.level is Level.PROVISIONAL
    (need,) = found.needs
    assert "more pairs that two people or more and the judge grade" in need.text
    fewer = calibrated(ratings, ratings.grades[:, 2], min_labels=121)
    assert fewer.level is Level.INSUFFICIENT
    assert "120 pairs graded by two people or more and the judge, 121 needed" in fewer.reasons


def test_one_rater_leaves_the_policy_people_undefined_and_says_why():
    ratings, judge = simulated(np.random.default_rng(11))
    for people in (0, 1):
        found = calibrated(ratings, judge, people=people)
        assert found.level is Level.INSUFFICIENT
        assert any(
            "undefined on these labels: no pair was graded by two people or more" in reason
            for reason in found.reasons
        )
        assert found.figures["over_people"].point is None


def test_votes_go_by_the_ids_of_their_queries():
    votes = (
        Conflict("q1", "shoes", "d1", (Vote("ann", 3), Vote("bob", 2), Vote(None, 0))),
        Conflict("q2", "shoes", "d1", (Vote("ann", 0), Vote("bob", 1))),  # two ids, one text
    )
    assert votes_in(votes) == {
        ("q1", "d1"): {"ann": 3, "bob": 2}, ("q2", "d1"): {"ann": 0, "bob": 1},
    }  # fmt: skip
