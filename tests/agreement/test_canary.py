"""A planted drift is found; a judge that only flips as it always did stays quiet."""

from __future__ import annotations

import numpy as np
import pytest

from relgate.eval.agreement.canary import Moved, drift_of, mcnemar_p, stuart_maxwell, what_moved
from relgate.rubrics.errors import InputError


def grades(rng, n=50):
    then = np.arange(n) % 4
    return then, flip(rng, then, 0.06)


def flip(rng, then, rate):
    moved = rng.random(len(then)) < rate
    step = np.where(rng.random(len(then)) < 0.5, 1, -1)
    return np.where(moved, np.clip(then + step, 0, 3), then)


def alarms(change, runs=300):
    rng = np.random.default_rng(1)
    found = 0
    for _ in range(runs):
        then, again = grades(rng)
        found += drift_of(then, again, change(rng, then), n_grades=4, floor=2).moved
    return found / runs


def test_a_clean_judge_stays_quiet():
    assert alarms(lambda rng, then: flip(rng, then, 0.06)) <= 0.05


def test_a_judge_that_became_lenient_is_found():
    def lenient(rng, then):
        return np.clip(then + (rng.random(len(then)) < 0.35), 0, 3)

    assert alarms(lenient) > 0.8


def test_another_judge_of_the_same_distribution_is_found_by_its_changes():
    assert alarms(lambda rng, then: flip(rng, then, 0.5)) > 0.9


def test_exact_mcnemar_by_hand():
    assert mcnemar_p(0, 5) == pytest.approx(2 / 2**5)
    assert mcnemar_p(8, 1) == pytest.approx(2 * (1 + 9) / 2**9)
    assert mcnemar_p(0, 0) == 1.0


def test_stuart_maxwell_of_two_grades_is_mcnemars_chi_squared():
    statistic, freedom, _ = stuart_maxwell([[10, 12], [3, 25]])
    assert (statistic, freedom) == (pytest.approx((12 - 3) ** 2 / 15), 1)


def test_stuart_maxwell_leaves_unused_grades_out_and_equal_margins_are_quiet():
    wide = [[10, 12, 0], [3, 25, 0], [0, 0, 0]]
    assert stuart_maxwell(wide)[0] == pytest.approx(81 / 15)
    assert stuart_maxwell([[5, 2], [2, 5]]) == (0.0, 0, 1.0)


def test_the_verdict_tells_the_judge_from_search():
    then = np.arange(48) % 4
    quiet = drift_of(then, then, then, n_grades=4, floor=2)
    moved = drift_of(then, then, np.full(48, 3), n_grades=4, floor=2)
    assert what_moved(quiet, metric_p=None) is Moved.NOTHING
    assert what_moved(quiet, metric_p=0.001) is Moved.SEARCH
    assert what_moved(moved, metric_p=0.5) is Moved.JUDGE
    assert what_moved(moved, metric_p=0.001) is Moved.BOTH


def test_no_pair_is_refused():
    empty = np.array([], int)
    with pytest.raises(InputError):
        drift_of(empty, empty, empty, n_grades=4, floor=2)
