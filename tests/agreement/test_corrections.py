"""Prediction-powered means, rates of Rogan and Gladen, expected gains, support."""

from __future__ import annotations

import math

import numpy as np
import pytest
from dl19 import DL19, DL20
from scipy import stats

from relgate.eval.agreement.corrected import correct_list
from relgate.eval.agreement.gains import expected_gains, gain_error, support_of
from relgate.eval.agreement.powered import Values, as_values, powered_mean
from relgate.eval.agreement.rates import corrected_rate, rogan_gladen
from relgate.eval.agreement.tails import binomial_two_sided, chi_squared_tail, t_quantile
from relgate.eval.metrics.conventions import Conventions
from relgate.rubrics.errors import InputError, UsageError

NAN = math.nan


def pairs_of(table):
    human, judge = np.nonzero(table)
    times = table[human, judge]
    return np.repeat(human, times).astype(float), np.repeat(judge, times).astype(float)


@pytest.mark.parametrize(
    ("table", "errors", "weight", "off"),  # statistics 2.7, n = 200: people, PPI, PPI++
    [
        (DL19, (0.0710, 0.0662, 0.0570), 0.557, 12.6),
        (DL20, (0.0620, 0.0599, 0.0500), 0.526, 19.8),
    ],
)
def test_standard_errors_of_the_mean_grade_of_the_public_tables(table, errors, weight, off):
    """200 labels of a table of thousands, here every pair labelled and as many more unlabelled."""
    human, judge = pairs_of(table)
    times = round(len(human) / 200)
    labels = np.concatenate([human, np.full(times * len(human), NAN)])
    values = as_values(labels, np.concatenate([judge, np.tile(judge, times)]))
    of_200 = math.sqrt(len(human) / 200)
    one, best = powered_mean(values, weight=1), powered_mean(values)
    found = [e.error * of_200 for e in (best.people, one.corrected, best.corrected)]
    assert found == pytest.approx(errors, abs=5e-5)
    assert best.weight == pytest.approx(weight, abs=1e-3)
    alone = judge.std() / math.sqrt(len(judge))  # of the judge's mean over the whole table
    assert (judge.mean() - human.mean()) / alone == pytest.approx(off, abs=0.05)


def test_a_mean_by_hand():
    # Y 1 0 1 0, f 1 0 1 1 there; f 0 1 elsewhere. lambda 1: 0.5 + (0.5 - 0.75) = 0.25
    values = as_values([1, 0, 1, 0, NAN, NAN], [1, 0, 1, 1, 0, 1])
    found = powered_mean(values, weight=1)
    assert found.corrected.point == pytest.approx(0.25)
    assert (found.people.point, found.judge.point) == (0.5, pytest.approx(4 / 6))
    assert (found.labelled, found.unlabelled, found.queries) == (4, 2, 4)
    # lambda* = cov / ((1 + n/N) var) would take f's variance over all; ours weighs each part's own
    assert powered_mean(values, weight=0).corrected.point == 0.5


def test_people_alone_have_students_interval():
    y = np.array([0.1, 0.4, 0.2, 0.6, 0.3])
    found = powered_mean(as_values(y, y)).people
    low, high = stats.t.interval(0.95, 4, y.mean(), stats.sem(y))
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))


def test_the_weight_is_the_papers_where_each_value_is_a_query():
    rng = np.random.default_rng(3)
    judge = rng.normal(0, 1, 3_000)
    people = np.where(np.arange(3_000) < 1_000, 0.6 * judge + rng.normal(0, 1, 3_000), NAN)
    found = powered_mean(as_values(people, judge))
    y, f = people[:1_000], judge[:1_000]
    expected = np.cov(y, f, ddof=0)[0, 1] / ((1 + 1_000 / 2_000) * judge.var())
    assert found.weight == pytest.approx(expected, rel=0.03)
    assert found.corrected.error < found.people.error


def test_values_of_one_query_count_as_one_part():
    """Every value four times over: no more is known, and the interval must not shrink."""
    rng = np.random.default_rng(4)
    judge = rng.normal(0, 1, 150)
    people = np.where(np.arange(150) < 60, judge + rng.normal(0, 0.5, 150), NAN)
    one = powered_mean(as_values(people, judge))
    four = powered_mean(as_values(*(np.repeat(x, 4) for x in (people, judge, np.arange(150)))))
    assert four.corrected.error == pytest.approx(one.corrected.error)
    assert four.queries == one.queries == 60


def test_few_labelled_queries_have_a_point_and_no_interval():
    found = powered_mean(as_values([1.0, 2.0, NAN], [1.0, 2.0, 3.0]))
    assert (found.corrected.low, found.corrected.error) == (None, None)
    assert found.people.point == 1.5


def test_a_constant_judge_says_nothing_and_changes_nothing():
    people = np.array([1.0, 2.0, 3.0, 4.0, NAN, NAN])
    found = powered_mean(as_values(people, np.full(6, 2.0)))
    assert (found.weight, found.corrected.point) == (0.0, 2.5)


@pytest.mark.parametrize(
    "values",
    [
        as_values([NAN, NAN], [1, 2]),
        as_values([1, 2], [NAN, 2]),
        as_values([math.inf, 2], [1, 2]),
        Values(np.array([1.0]), np.array([1.0, 2.0]), np.array([0, 1])),
    ],
)
def test_values_that_do_not_fit_are_refused(values):
    with pytest.raises(UsageError):
        powered_mean(values)


# --- rates


@pytest.mark.parametrize(
    ("judged", "tpr", "tnr", "expected"),  # statistics 2.6: judgy's README; DL20
    [(0.625, 0.75, 0.75, 0.75), (0.1856, 0.6236, 0.8895, 0.1463), (0.05, 0.9, 0.8, 0.0),
     (0.99, 0.9, 0.9, 1.0)],
)  # fmt: skip
def test_rogan_gladen_and_its_clip(judged, tpr, tnr, expected):
    assert float(rogan_gladen(judged, tpr, tnr)) == pytest.approx(expected, abs=3e-4)


@pytest.mark.parametrize(("tpr", "tnr"), [(0.5, 0.5), (0.2, 0.7), (NAN, 0.9)])
def test_a_judge_no_better_than_chance_has_no_corrected_rate(tpr, tnr):
    assert math.isnan(float(rogan_gladen(0.5, tpr, tnr)))


def tables(n, cells):
    return np.tile(np.array(cells), (n, 1, 1))


def test_a_corrected_rate_has_an_interval_of_both_parts():
    rng = np.random.default_rng(1)
    labelled = rng.multinomial(10, [0.6, 0.1, 0.05, 0.25], 80).reshape(80, 2, 2)
    few = np.column_stack([10 - (own := rng.binomial(10, 0.4, 20)), own])
    many = np.column_stack([10 - (own := rng.binomial(10, 0.4, 2_000)), own])
    wide, narrow = corrected_rate(labelled, few), corrected_rate(labelled, many)
    assert wide.undefined is narrow.undefined is None
    assert wide.corrected.high - wide.corrected.low > narrow.corrected.high - narrow.corrected.low


@pytest.mark.parametrize(
    ("labelled", "unlabelled", "why"),
    [
        (tables(40, [[5, 5], [5, 5]]), [[5, 5]] * 40, "the judge is no better than chance"),
        (tables(40, [[9, 1], [0, 0]]), [[5, 5]] * 40, "all on one side of the floor"),
        (tables(40, [[9, 1], [1, 9]]), np.zeros((40, 2)), "no unlabelled pair"),
        (tables(1, [[9, 1], [1, 9]]), [[5, 5]] * 40, "takes two queries or more"),
    ],
)
def test_a_rate_that_cannot_be_corrected_says_why(labelled, unlabelled, why):
    found = corrected_rate(labelled, unlabelled)
    assert why in found.undefined
    assert found.corrected.point is None


def test_a_denominator_that_may_be_near_0_is_refused():
    rng = np.random.default_rng(2)
    labelled = rng.multinomial(6, [0.3, 0.2, 0.2, 0.3], 25).reshape(25, 2, 2)
    found = corrected_rate(labelled, [[3, 3]] * 50)
    assert found.denominator.point > 0.1 > found.denominator.low
    assert found.undefined.startswith("refused: TPR + TNR - 1 may be as low as")


# --- gains and support


def test_expected_gains_of_the_public_table():
    found = expected_gains(DL19, [0, 1, 3, 7])
    by_hand = (384 * 1 + 152 * 3 + 140 * 7) / (3654 + 384 + 152 + 140)
    assert found[0].mean == pytest.approx(by_hand)
    assert [g.labels for g in found] == DL19.sum(axis=0).tolist()
    assert [g.nominal for g in found] == [0, 1, 3, 7]
    rising = [g.expected for g in found]
    assert rising == sorted(rising)


def test_a_gain_that_falls_is_pooled_with_its_neighbour():
    table = [
        [0, 0, 0],
        [0, 10, 30],
        [0, 30, 10],
    ]  # where the judge says 1 people say more than at 2
    found = expected_gains(table, [0, 1, 3])
    assert (found[1].mean, found[2].mean) == (2.5, 1.5)
    assert found[1].expected == found[2].expected == 2.0
    assert (found[0].mean, found[0].expected) == (None, 2.0)  # no label: its neighbour's
    assert expected_gains(np.zeros((3, 3)), [0, 1, 3])[1].expected is None


def test_a_grade_that_a_system_gets_and_labels_lack_has_no_support():
    (found,) = support_of([200, 100, 50, 4], [50, 20, 20, 10])
    assert (found.grade, found.share, found.labels) == (3, 0.1, 4)
    assert support_of([200, 100, 50, 40], [50, 20, 20, 10]) == ()
    assert support_of([200, 100, 50, 0], [500, 200, 200, 10]) == ()  # 1 %: it hardly matters
    assert support_of([1, 1], [0, 0]) == ()


def test_the_maps_error_is_told_on_queries_that_it_was_not_fitted_to():
    gains = [0.0, 1.0, 3.0, 7.0]
    one_up = np.zeros((20, 4, 4), int)
    for q in range(20):  # the judge gives one grade too many, always: the map undoes it
        one_up[q, 0, 1] = one_up[q, 1, 2] = one_up[q, 2, 3] = 1
    found = gain_error(one_up, gains)
    assert found.expected == 0
    assert found.nominal == pytest.approx(((1 + 4 + 16) / 3) ** 0.5)
    assert gain_error(one_up[:4], gains) is None
    # pure noise on one pair a query: a fitted map looks better than it is, held out it does not
    rng = np.random.default_rng(1)
    human, judge = rng.integers(0, 4, (2, 10))
    noise = np.zeros((10, 4, 4), int)
    noise[np.arange(10), human, judge] = 1
    fitted = [g.expected for g in expected_gains(noise.sum(axis=0), gains)]
    in_sample = np.mean([(gains[h] - fitted[j]) ** 2 for h, j in zip(human, judge, strict=True)])
    assert gain_error(noise, gains).expected > in_sample**0.5
    assert gain_error(noise, gains, seed=3) == gain_error(noise, gains, seed=3)


# --- a list


def judged_list(make, rng, queries=120, each=8):
    people = rng.integers(0, 4, (queries, each))
    judge = np.clip(people + (rng.random((queries, each)) < 0.35), 0, 3)
    rows = [(q, d) for q in range(queries) for d in range(each)]
    labels = make.labels([(f"q{q}", f"d{d}", int(people[q, d])) for q, d in rows if q < 60])
    grades = make.labels([(f"q{q}", f"d{d}", int(judge[q, d])) for q, d in rows])
    return people, labels, grades


def test_a_list_corrected_by_half_of_its_queries_holds_the_truth(make):
    people, labels, grades = judged_list(make, np.random.default_rng(9))
    found = correct_list(labels, grades, Conventions())
    assert (found.labelled, found.unlabelled, found.queries, found.why) == (480, 480, 60, None)
    truth = people.mean()
    assert found.mean_grade.judge.low > truth
    assert found.mean_grade.corrected.low < truth < found.mean_grade.corrected.high
    assert found.rate.corrected.low < (people[60:] >= 2).mean() < found.rate.corrected.high
    assert found.rate.judged.point > (people[60:] >= 2).mean()


def test_too_few_labelled_queries_correct_no_mean(make):
    _, labels, grades = judged_list(make, np.random.default_rng(9))
    few = labels.take(labels.query < 49)
    found = correct_list(few, grades, Conventions())
    assert (found.mean_grade, found.why) == (None, "49 queries with labels, 50 needed")


def test_lists_that_do_not_meet_are_refused(make):
    _, labels, grades = judged_list(make, np.random.default_rng(9), queries=3)
    with pytest.raises(InputError, match="no labelled pair"):
        correct_list(make.labels([("other", "d", 1)]), grades, Conventions())
    with pytest.raises(InputError, match="one scale"):
        correct_list(make.labels([("q1", "d1", 1)], scale="0-1"), grades, Conventions())
    with pytest.raises(UsageError, match="floor 4"):
        correct_list(labels, grades, Conventions(floor=4))


# --- tails


def test_tails_are_scipys():
    assert t_quantile(0.975, 59) == pytest.approx(stats.t.ppf(0.975, 59))
    assert chi_squared_tail(7.8147, 3) == pytest.approx(0.05, abs=1e-5)
    for k, n in ((0, 5), (2, 9), (5, 10), (40, 100)):
        assert binomial_two_sided(k, n) == pytest.approx(stats.binomtest(k, n).pvalue)
    assert binomial_two_sided(0, 0) == 1.0
