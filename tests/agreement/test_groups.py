"""Agreement by stratum and locale, leniency by grade, coverage: all over resampled queries."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, f1_score

from relgate.eval.agreement.calibrate import Terms, calibrate_pairs
from relgate.eval.agreement.groups import NOT_STATED, Group
from relgate.eval.agreement.pairs import UNGRADED
from relgate.eval.lists.types import SCALES

SCALE = SCALES["0-3"]
QUERY = np.repeat(np.arange(12), 10)
_DRAW = np.random.default_rng(3)
HUMAN = _DRAW.integers(0, 4, 120)
JUDGE = np.clip(HUMAN + _DRAW.integers(-1, 2, 120), 0, 3)


def groups_of(query):
    """Six queries of shoes, six without a stratum; locales alternate."""
    number = int(query.id[1:])
    locale = Group("locale", ("de", "en")[number % 2])
    return (Group("stratum", "shoes"), locale) if number < 6 else (locale,)


@pytest.fixture(scope="module")
def grouped(make_pairs):
    return calibrate_pairs(
        make_pairs(HUMAN, JUDGE, query=QUERY), scale=SCALE, terms=Terms(groups_of=groups_of)
    )


def test_strata_come_before_locales_and_what_is_not_stated_last(grouped):
    assert [(g.group.kind, g.group.name) for g in grouped.groups] == [
        ("stratum", "shoes"),
        ("stratum", NOT_STATED),
        ("locale", "de"),
        ("locale", "en"),
    ]


def test_each_groups_figures_are_those_of_its_own_pairs(grouped):
    for found, inside in zip(
        grouped.groups, (QUERY < 6, QUERY >= 6, QUERY % 2 == 0, QUERY % 2 == 1), strict=True
    ):
        human, judge = HUMAN[inside], JUDGE[inside]
        assert (found.n, found.n_asked, found.n_queries) == (60, 60, 6)
        assert found.n_relevant == (human >= 2).sum()
        kappa = cohen_kappa_score(human, judge, weights="quadratic", labels=range(4))
        assert found.figures["kappa_quadratic"].point == pytest.approx(kappa)
        assert found.figures["f1"].point == pytest.approx(f1_score(human >= 2, judge >= 2))
        assert found.figures["f1"].low < found.figures["f1"].point < found.figures["f1"].high


def test_all_figures_of_the_whole_are_there_for_each_group(grouped):
    of_all = grouped.figures.keys() - {"coverage", "error_rate"}
    assert all(group.figures.keys() == of_all for group in grouped.groups)


def test_without_groups_there_is_no_row(make):
    assert calibrate_pairs(make.pairs([0, 3], [0, 3]), scale=SCALE).groups == ()


def test_a_group_of_one_class_says_why_kappa_is_undefined(make):
    pairs = make.pairs([3, 3, 0, 3], [3, 2, 0, 3], query=[0, 0, 1, 1])
    result = calibrate_pairs(
        pairs, scale=SCALE, terms=Terms(groups_of=lambda q: (Group("stratum", q.id),))
    )
    kappa = result.groups[0].figures["kappa"]
    assert (kappa.point, kappa.why) == (None, "people used one grade only, 3")
    f1 = result.groups[0].figures["f1"]
    assert (f1.point, f1.low, f1.why) == (1, None, "an interval takes two queries or more")


def test_a_group_whose_grades_all_failed_has_its_row(make):
    pairs = make.pairs([3, 0, 3, 0], [UNGRADED, UNGRADED, 3, 0], query=[0, 0, 1, 1])
    result = calibrate_pairs(
        pairs, scale=SCALE, terms=Terms(groups_of=lambda q: (Group("stratum", q.id),))
    )
    first = result.groups[0]
    assert (first.n, first.n_asked, first.n_queries) == (0, 2, 0)
    assert first.figures["accuracy"].why == "no pair has both a label and a grade"


def test_leniency_is_by_peoples_grade(make):
    result = calibrate_pairs(make.pairs([0, 0, 1, 1, 3], [0, 2, 0, 1, 3]), scale=SCALE)
    rows = {row.grade: row for row in result.leniency}
    assert [rows[g].n for g in range(4)] == [2, 2, 0, 1]
    assert rows[0].shift.point == 1.0  # 0 and +2
    assert rows[1].shift.point == -0.5
    shares = [getattr(rows[1], name).point for name in ("lower", "same", "higher")]
    assert shares == [0.5, 0.5, 0.0]
    assert rows[2].shift.point is None
    assert rows[2].shift.why == "people gave no compared pair the grade 2"


def test_the_shifts_by_grade_add_up_to_the_leniency_of_all(grouped):
    total = sum(row.n * row.shift.point for row in grouped.leniency)
    assert total / grouped.n == pytest.approx(grouped.figures["mean_shift"].point)


def test_coverage_has_an_interval_over_the_asked_queries(make):
    judge = JUDGE.copy()
    judge[QUERY < 3] = UNGRADED  # whole queries fail together
    figures = calibrate_pairs(make.pairs(HUMAN, judge, query=QUERY), scale=SCALE).figures
    coverage, errors = figures["coverage"], figures["error_rate"]
    assert (coverage.point, errors.point) == (0.75, 0.25)
    # of 12 queries drawn, 3 in 12 fail: the binomial's 2.5 % and 97.5 % points are 6 and 11
    assert (coverage.low, coverage.high) == pytest.approx((6 / 12, 11 / 12), abs=0.09)
    assert errors.low == pytest.approx(1 - coverage.high)
