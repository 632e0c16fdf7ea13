"""Alpha, AC1 and their kin of several raters with gaps, against published and library values."""

from __future__ import annotations

import math
import warnings

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relgate.eval.agreement.confusion import confusion_table, kappa
from relgate.eval.agreement.intervals import standard_errors
from relgate.eval.agreement.multirater import (
    LEVELS,
    RaterShape,
    coincidences,
    krippendorff_alpha,
    rater_figures,
    rater_sums,
    unit_counts,
)

NONE = 0
# Krippendorff's example of 4 raters and 12 units; also `raw_4raters` of irrCAC. Grades 1 to 5.
FOUR_RATERS = np.array([
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NONE, NONE, NONE],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NONE, NONE],
    [NONE, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 3],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NONE],
]).T  # fmt: skip
FROM_0 = FOUR_RATERS - 1  # 0 to 4, a gap is -1


def figures(grades, *, n_grades, query=None):
    query = np.zeros(len(grades), int) if query is None else query
    sums = rater_sums(grades, query, n_queries=int(query.max()) + 1, n_grades=n_grades)
    return rater_figures(sums.sum(axis=0), RaterShape(n_grades, grades.shape[1]))


def alpha(grades, level, *, n_grades):
    counts = unit_counts(grades, n_grades=n_grades)
    return float(krippendorff_alpha(coincidences(counts).sum(axis=0), level=level))


@pytest.mark.parametrize(
    ("level", "expected"),  # statistics 2.3
    [("nominal", 0.7434), ("ordinal", 0.8154), ("interval", 0.8491), ("ratio", 0.7974)],
)
def test_alpha_of_krippendorffs_own_example(level, expected):
    with_gaps = np.where(FOUR_RATERS > 0, FOUR_RATERS, -1)
    assert alpha(with_gaps, level, n_grades=6) == pytest.approx(expected, abs=5e-5)


def test_the_other_figures_of_the_four_raters():
    # statistics 2.2, irrCAC 0.4.4
    found = figures(FROM_0, n_grades=5)
    expected = {
        "ac1": 0.77544, "fleiss": 0.76117, "conger": 0.76282, "alpha_nominal": 0.74342,
        "brennan_prediger": 0.77273, "ac2_ordinal": 0.89894, "ac2_quadratic": 0.91400,
    }  # fmt: skip
    assert {name: round(float(found[name]), 5) for name in expected} == expected


def gwets_own_error(grades, n_grades):
    """Gwet 2008: the number of units with two grades is taken as fixed."""
    counts = unit_counts(grades, n_grades=n_grades).astype(float)
    m, n = counts.sum(axis=1), len(counts)
    two = m >= 2
    agreed = (counts * (counts - 1)).sum(axis=1) / np.where(two, m * (m - 1), 1) * two
    share = (counts / m[:, None]).mean(axis=0)
    chance = (share * (1 - share)).sum() / (n_grades - 1)
    ac1 = (agreed.sum() / two.sum() - chance) / (1 - chance)
    own = n / two.sum() * (agreed - chance * two) / (1 - chance)
    own_chance = (counts * (1 - share)).sum(axis=1) / m / (n_grades - 1)
    own = own - 2 * (1 - ac1) * (own_chance - chance) / (1 - chance)
    return float(np.sqrt(((own - ac1) ** 2).sum() / (n * (n - 1))))


def our_error(grades, n_grades):
    sums = rater_sums(grades, np.arange(len(grades)), n_queries=len(grades), n_grades=n_grades)
    shape = RaterShape(n_grades, grades.shape[1])
    return standard_errors(sums, lambda s: rater_figures(s, shape))["ac1"]


def test_the_standard_error_of_ac1_is_gwets_where_every_unit_has_two_grades():
    assert gwets_own_error(FROM_0, 5) == pytest.approx(0.14295, abs=5e-6)  # statistics 2.2
    graded_twice = FROM_0[(FROM_0 >= 0).sum(axis=1) >= 2]
    expected = gwets_own_error(graded_twice, 5)
    assert our_error(graded_twice, 5) == pytest.approx(expected, rel=1e-8)
    # with the twelfth unit, graded once, ours lets the number of such units vary too
    assert our_error(FROM_0, 5) == pytest.approx(0.1247, abs=5e-5)


@pytest.mark.parametrize("level", LEVELS)
def test_alpha_is_the_librarys_on_random_grades_with_gaps(level):
    rng = np.random.default_rng(8)
    for _ in range(40):
        raters, units, k = rng.integers(2, 6), rng.integers(3, 60), rng.integers(2, 6)
        grades = rng.integers(0, k, (units, raters))
        grades = np.where(rng.random(grades.shape) < 0.3, -1, grades)
        if len({g for row in grades if (row >= 0).sum() >= 2 for g in row if g >= 0}) < 2:
            continue
        data = np.where(grades.T >= 0, grades.T, np.nan).astype(float)
        domain = np.arange(k) if level != "ordinal" else None
        expected = krippendorff.alpha(data, level_of_measurement=level, value_domain=domain)
        assert alpha(grades, level, n_grades=int(k)) == pytest.approx(expected, abs=1e-12)


def test_two_raters_without_gaps_have_cohens_kappa_as_congers():
    rng = np.random.default_rng(2)
    grades = rng.integers(0, 4, (200, 2))
    expected = float(kappa(confusion_table(grades[:, 0], grades[:, 1], n_grades=4)))
    assert figures(grades, n_grades=4)["conger"] == pytest.approx(expected, abs=1e-12)


@given(st.integers(0, 2**32 - 1))
def test_no_figure_depends_on_the_order_of_raters_or_units(seed):
    rng = np.random.default_rng(seed)
    grades = rng.integers(-1, 4, (20, 4))
    shuffled = grades[rng.permutation(20)][:, rng.permutation(4)]
    one, two = figures(grades, n_grades=4), figures(shuffled, n_grades=4)
    for name, value in one.items():
        assert float(two[name]) == pytest.approx(float(value), abs=1e-12, nan_ok=True), name


def test_a_rater_of_gaps_alone_changes_nothing():
    more = np.column_stack([FROM_0, np.full(12, -1)])
    one, two = figures(FROM_0, n_grades=5), figures(more, n_grades=5)
    for name, value in one.items():
        assert float(two[name]) == pytest.approx(float(value), abs=1e-12), name


@pytest.mark.parametrize(
    "grades",
    [
        np.full((5, 3), 2),  # one grade
        np.array([[1, -1], [-1, 2], [3, -1]]),  # nobody graded what another did
        np.zeros((0, 2), int),  # nothing
    ],
)
def test_what_shows_no_agreement_beyond_chance_is_undefined_and_not_0(grades):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        query = np.zeros(len(grades), int)
        sums = rater_sums(grades, query, n_queries=1, n_grades=4).sum(axis=0)
        found = rater_figures(sums, RaterShape(4, grades.shape[1]))
    for name in ("alpha_nominal", "alpha_ordinal", "fleiss", "conger"):
        assert math.isnan(float(found[name])), name


def test_sums_by_query_score_as_the_whole():
    query = np.arange(12) % 3
    whole, parts = figures(FROM_0, n_grades=5), figures(FROM_0, n_grades=5, query=query)
    for name, value in whole.items():
        assert float(parts[name]) == pytest.approx(float(value), abs=1e-12)
