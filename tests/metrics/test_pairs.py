"""Several runs, pair by pair and slice by slice."""

from __future__ import annotations

from math import isnan, nan

import numpy as np
import pytest
from scipy.stats import t as student

from relgate.eval.metrics.align import align
from relgate.eval.metrics.compare import compare, effect_size, holm, sign_flip_p
from relgate.eval.metrics.conventions import Conventions, Metric
from relgate.eval.metrics.pairs import MIN_SLICE_QUERIES, compare_pairs, compare_slices
from relgate.eval.metrics.score import score_runs


@pytest.fixture
def scored(make_list, make_run):
    """Three runs over 40 queries: `good` has the best document first, `bad` last, `same` as bad."""
    names = [f"q{i}" for i in range(40)]
    judgments = make_list({q: {"a": 3, "b": 1, "c": 0} for q in names})
    ranked = {"bad": ["c", "b", "a"], "same": ["c", "b", "a"], "good": ["a", "b", "c"]}
    runs = [make_run(dict.fromkeys(names, docs), name) for name, docs in ranked.items()]
    return score_runs(judgments, runs, align(judgments, runs), Conventions())


def test_holm_of_the_reference() -> None:
    """statistics.md 2.9: p = .01 .04 .03 .005 -> .03 .06 .06 .02."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))


def test_what_was_not_tested_does_not_count_among_the_tests() -> None:
    assert holm([0.9, 0.8]) == (1.0, 1.0)
    assert holm([0.04]) == (0.04,)
    assert holm([]) == ()
    first, second = holm([0.01, nan])
    assert first == 0.01
    assert isnan(second)


def test_the_effect_is_the_mean_over_the_spread() -> None:
    """statistics.md 2.9: mean .05625, t-test p .1612; and t is the effect times sqrt(n)."""
    deltas = np.array([0.1, -0.05, 0.2, 0, 0.15, 0.05, 0.1, -0.1])
    t = effect_size(deltas) * np.sqrt(8)
    assert 2 * student.sf(t, 7) == pytest.approx(0.1612, abs=5e-5)
    assert isnan(effect_size(np.array([0.5, 0.5])))


def test_every_pair_is_compared_the_earlier_run_first(scored) -> None:
    pairs = compare_pairs(scored, Metric.NDCG)
    assert [(p.before, p.after) for p in pairs] == [
        ("bad", "same"),
        ("bad", "good"),
        ("same", "good"),
    ]
    own = compare(scored[0], scored[2], Metric.NDCG)
    p = sign_flip_p(own.deltas)
    assert (pairs[1].delta, pairs[1].p, pairs[1].n) == (own.mean_delta, p, 40)
    assert pairs[1].p_holm == pytest.approx(3 * p)
    assert (pairs[1].improved, pairs[1].worse) == (40, 0)


def test_equal_runs_have_no_effect_and_no_number_of_queries(scored) -> None:
    same = compare_pairs(scored, Metric.NDCG)[0]
    assert (same.delta, same.p, same.p_holm, same.needed) == (0, 1, 1, None)
    assert isnan(same.effect)


def test_a_thin_slice_is_shown_and_not_tested(scored) -> None:
    wide = np.arange(40) < MIN_SLICE_QUERIES
    wide_slice, thin = compare_slices(scored[1:], Metric.NDCG, {"wide": wide, "thin": ~wide})
    assert (wide_slice.slice, wide_slice.n, thin.slice, thin.n) == ("wide", 30, "thin", 10)
    assert wide_slice.p_holm == wide_slice.p < 0.001
    assert isnan(thin.p)
    assert isnan(thin.p_holm)
    assert thin.delta == pytest.approx(wide_slice.delta)
