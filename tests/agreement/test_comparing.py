"""Several judges on the same labels: the common pairs, paired differences, constants."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, f1_score

from relgate.eval.agreement.comparing import Costs, Entry, compare_judges
from relgate.eval.agreement.comparison_report import (
    comparison_json,
    comparison_markdown,
    difference_rows,
    judge_rows,
)
from relgate.eval.agreement.pairs import UNGRADED, JudgeIdentity
from relgate.eval.lists.types import SCALES
from relgate.rubrics.errors import InputError

SCALE = SCALES["0-3"]
_DRAW = np.random.default_rng(4)
N = 400
QUERY = np.repeat(np.arange(N // 8), 8)
HUMAN = _DRAW.integers(0, 4, N)
GOOD = np.clip(HUMAN + _DRAW.choice([-1, 0, 1], N, p=[0.1, 0.8, 0.1]), 0, 3)
POOR = np.clip(HUMAN + _DRAW.choice([-2, 0, 2], N, p=[0.25, 0.5, 0.25]), 0, 3)


def entry(make, name, judge, **more):
    identity = more.pop("identity", JudgeIdentity())
    return Entry(name=name, pairs=make.pairs(HUMAN, judge, query=QUERY), identity=identity, **more)


def compared(*entries, resamples=500):
    return compare_judges(entries, scale=SCALE, floor=2, seed=0, resamples=resamples)


def test_each_row_is_scikit_learns_on_the_common_pairs(make):
    some = GOOD.copy()
    some[::5] = UNGRADED
    found = compared(entry(make, "some", some), entry(make, "poor", POOR))
    both = some != UNGRADED
    assert (found.n, found.n_labels, found.n_queries) == (320, 400, 50)
    for row, judge in zip(found.judges, (GOOD, POOR), strict=False):
        human, said = HUMAN[both], judge[both]
        wanted = {
            "kappa": cohen_kappa_score(human, said),
            "kappa_quadratic": cohen_kappa_score(human, said, weights="quadratic"),
            "f1": f1_score(human >= 2, said >= 2),
            "mean_shift": (said - human).mean(),
        }
        assert {k: f.point for k, f in row.figures.items()} == pytest.approx(wanted)


def test_its_own_coverage_stands_beside_and_little_overlap_is_said(make):
    some = GOOD.copy()
    some[::5] = UNGRADED
    found = compared(entry(make, "some", some), entry(make, "poor", POOR))
    assert [row.coverage for row in found.judges[:2]] == [0.8, 1.0]
    assert any(
        "only 320 of 400 labelled pairs were graded by all; some graded least, 320" in w
        for w in found.warnings
    )


def test_constant_judges_are_always_rows_and_read_nothing(make):
    found = compared(entry(make, "good", GOOD), entry(make, "poor", POOR))
    constants = [row for row in found.judges if row.kind == "constant"]
    assert [row.name.split(" (")[0] for row in constants] == ["always relevant", "majority grade"]
    for row in constants:
        assert row.figures["kappa"].point == 0
        assert row.coverage is None
    always = f1_score(HUMAN >= 2, np.ones(N, bool))
    assert constants[0].figures["f1"].point == pytest.approx(always)


def test_a_difference_is_of_the_points_and_its_interval_is_paired(make):
    """The same judge twice: each interval is wide, their difference is exactly 0 in every draw."""
    found = compared(entry(make, "a", POOR), entry(make, "b", POOR), entry(make, "good", GOOD))
    by_names = {(d.first, d.second): d.figures for d in found.differences}
    same = by_names["a", "b"]["kappa_quadratic"]
    assert (same.point, same.low, same.high) == (0, 0, 0)
    a, good = found.judges[0].figures["f1"], found.judges[2].figures["f1"]
    better = by_names["a", "good"]["f1"]
    assert better.point == pytest.approx(a.point - good.point)
    assert better.low < better.point < better.high < 0  # good is better, and that is no chance
    assert better.high - better.low < (a.high - a.low) + (good.high - good.low)


def test_paired_intervals_cover_a_true_difference(make):
    """200 draws of two judges whose true F1 differ by a known amount, 100 queries: 88-99 % cover
    (a binomial of 200 at 95 % leaves these ends once in a thousand)."""
    table = np.array([[30, 10], [10, 50]])  # of the first judge; the second errs half as often
    p = (table / table.sum()).ravel()
    true = [2 * 50 / (2 * 50 + 20), 2 * 55 / (2 * 55 + 10)]
    draw = np.random.default_rng(9)
    inside = 0
    for seed in range(200):
        cell = draw.choice(4, 300, p=p)
        human, first = (cell // 2) * 3, (cell % 2) * 3
        wrong = human != first
        second = np.where(wrong & (draw.random(300) < 0.5), human, first)
        query = np.repeat(np.arange(100), 3)
        entries = [
            Entry(name=n, pairs=make.pairs(human, j, query=query), identity=JudgeIdentity())
            for n, j in (("a", first), ("b", second))
        ]
        found = compare_judges(entries, scale=SCALE, floor=2, seed=seed, resamples=300)
        f1 = found.differences[0].figures["f1"]
        inside += f1.low <= true[0] - true[1] <= f1.high
    assert 176 <= inside <= 198


def test_no_pair_graded_by_all_is_an_error_with_counts(make):
    half = np.where(np.arange(N) % 2, GOOD, UNGRADED)
    rest = np.where(np.arange(N) % 2, UNGRADED, GOOD)
    with pytest.raises(InputError, match=r"no pair was graded by all .*\(a 200, b 200\)"):
        compared(entry(make, "a", half), entry(make, "b", rest))


def test_picking_the_best_of_several_is_warned_of(make):
    both = compared(entry(make, "a", GOOD), entry(make, "b", POOR))
    assert any("the best of 2 judges" in warning for warning in both.warnings)
    one = compared(entry(make, "a", GOOD), entry(make, "baseline", POOR, kind="baseline"))
    assert not any("the best of" in warning for warning in one.warnings)


def test_one_judge_under_two_names_is_said(make):
    same = JudgeIdentity("v@1", "f1")
    found = compared(entry(make, "a", GOOD, identity=same), entry(make, "b", GOOD, identity=same))
    assert any("the same judge, by fingerprint" in warning for warning in found.warnings)


def test_labels_of_one_class_leave_kappa_undefined_with_the_reason(make):
    ones = np.full(N, 3)
    entries = [
        Entry(name=n, pairs=make.pairs(ones, j, query=QUERY), identity=JudgeIdentity())
        for n, j in (("a", GOOD), ("b", POOR))
    ]
    found = compared(*entries)
    kappa = found.judges[0].figures["kappa"]
    assert (kappa.point, kappa.why) == (None, "people used one grade only, 3")
    difference = found.differences[0].figures["kappa"]
    assert (difference.point, difference.why) == (None, "undefined for one of the two")
    page = comparison_markdown(found)
    assert "undefined (people used one grade only, 3)" in page
    assert "nan" not in page.lower()


def test_costs_and_seconds_are_shown_and_a_dash_where_not_known(make):
    costs = Costs(usd_per_thousand=0.4, seconds_per_thousand=12.0)
    planned = Costs(usd_per_thousand=0.5, planned=True)
    found = compared(
        entry(make, "asked", GOOD, costs=costs),
        entry(make, "cached", GOOD, costs=planned),
        entry(make, "recorded", POOR),
    )
    ends = [row[-2:] for row in judge_rows(found)]
    assert ends[:3] == [("0.400", "12.0"), ("0.500 (planned)", "-"), ("-", "-")]
    assert comparison_json(found)["judges"][0]["costs"]["seconds_per_thousand"] == 12.0


def test_the_first_judge_stands_against_every_other(make):
    found = compared(entry(make, "a", GOOD), entry(make, "b", POOR))
    rows = difference_rows(found)
    assert [row[0].split(" (")[0] for row in rows] == ["b", "always relevant", "majority grade"]
    assert all(row[1].startswith(("+", "-")) for row in rows)


def test_names_from_data_cannot_act_in_the_page(make):
    page = comparison_markdown(
        compared(entry(make, "x | `rm` @team", GOOD), entry(make, "b", POOR))
    )
    row = next(line for line in page.splitlines() if line.startswith("| x"))
    assert row.count("|") == 8
    assert "@team" not in page
