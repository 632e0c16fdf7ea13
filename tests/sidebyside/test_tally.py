"""What votes come to."""

from __future__ import annotations

from math import isnan

import krippendorff
import numpy as np
import pytest

from relgate.eval.sidebyside.match import Side
from relgate.eval.sidebyside.tally import against_metric, sign_test, tally_votes
from relgate.eval.sidebyside.types import Choice, Preference, preference


@pytest.mark.parametrize(
    ("choice", "left", "means"),
    [
        (Choice.LEFT, Side.BEFORE, Preference.BEFORE),
        (Choice.LEFT, Side.AFTER, Preference.AFTER),
        (Choice.RIGHT, Side.BEFORE, Preference.AFTER),
        (Choice.RIGHT, Side.AFTER, Preference.BEFORE),
        (Choice.SAME, Side.AFTER, Preference.SAME),
        (Choice.NEITHER, Side.BEFORE, Preference.NEITHER),
        (Choice.SKIP, Side.BEFORE, Preference.SKIP),
    ],
)
def test_a_choice_between_places_is_one_between_runs(choice, left, means):
    assert preference(choice, left) is means


def test_of_several_votes_of_one_rater_the_last_counts(vote):
    tally = tally_votes([vote("a", "before"), vote("a", "after")])
    assert (tally.before, tally.after) == (0, 1)


def test_a_query_counts_once_however_many_vote_on_it(vote):
    votes = [vote("a", "after", rater=f"r{i}") for i in range(9)] + [vote("b", "before")]
    tally = tally_votes(votes)
    assert (tally.before, tally.after, tally.preference) == (1, 1, 0.0)


def test_same_and_neither_are_ties_and_a_skip_is_no_vote(vote):
    votes = [vote("a", "same"), vote("b", "neither"), vote("c", "skip"), vote("d", "after")]
    tally = tally_votes(votes)
    assert (tally.before, tally.after, tally.ties) == (0, 1, 2)
    assert tally.preference == pytest.approx(1 / 3)
    (ann,) = tally.raters
    assert (ann.after, ann.same, ann.neither, ann.skipped) == (1, 1, 1, 1)


def test_no_vote_leaves_every_figure_undefined():
    tally = tally_votes([])
    assert all(isnan(v) for v in (tally.preference, tally.low, tally.high, tally.p, tally.alpha))


@pytest.mark.parametrize(
    ("one", "other", "p"),
    [(8, 2, 0.109375), (9, 1, 0.021484375), (5, 5, 1.0), (0, 6, 0.03125)],
)
def test_the_sign_test_has_the_values_of_the_binomial_table(one, other, p):
    """2 * sum of C(n, i) / 2^n over the smaller tail, by hand."""
    assert sign_test(one, other) == pytest.approx(p)
    assert sign_test(other, one) == pytest.approx(p)


def test_the_sign_test_of_nothing_is_undefined():
    assert isnan(sign_test(0, 0))


def test_alpha_equals_the_reference_package(vote):
    rng = np.random.default_rng(3)
    words = np.array(["before", "same", "after"])
    table = rng.integers(0, 3, (40, 3))
    table[:, 1] = np.where(rng.random(40) < 0.7, table[:, 0], table[:, 1])
    votes = [
        vote(f"q{q}", words[grade], rater=f"r{r}")
        for q, row in enumerate(table)
        for r, grade in enumerate(row)
        if (q + r) % 4
    ]
    given = table.astype(float)
    for q, r in np.ndindex(given.shape):
        if (q + r) % 4 == 0:
            given[q, r] = np.nan
    expected = krippendorff.alpha(given.T, level_of_measurement="ordinal", value_domain=[0, 1, 2])
    assert tally_votes(votes).alpha == pytest.approx(expected)


def test_a_rater_who_always_takes_the_left_is_told(vote):
    """The planted fault: thirty votes for the left, whichever run stood there."""
    lefts = ["before", "after"] * 15
    leaning = [vote(f"q{i}", left, rater="lea", left=left) for i, left in enumerate(lefts)]
    fair = [vote(f"q{i}", "after", rater="fay", left=left) for i, left in enumerate(lefts)]
    fay, lea = tally_votes(leaning + fair).raters
    assert (lea.left, lea.right, lea.leans) == (30, 0, True)
    assert (fay.left, fay.right, fay.leans) == (15, 15, False)


def test_votes_stand_beside_the_metric_query_by_query(vote):
    tally = tally_votes(
        [
            vote("both up", "after"),
            vote("metric down", "after"),
            vote("both down", "before"),
            vote("tie", "same"),
            vote("still", "before"),
            vote("unrated", "after"),
        ]
    )
    deltas = {"both up": 0.2, "metric down": -0.1, "both down": -0.3, "tie": 0.1, "still": 1e-12}
    found = against_metric(tally, "nDCG", {**deltas, "unrated": float("nan")})
    assert (found.alike, found.apart) == (2, 1)
    assert (found.metric_only, found.people_only, found.unscored) == (1, 1, 1)


def test_the_interval_of_many_equal_votes_has_no_width(vote):
    tally = tally_votes([vote(f"q{i}", "after") for i in range(20)])
    assert (tally.preference, tally.low, tally.high) == (1.0, 1.0, 1.0)
