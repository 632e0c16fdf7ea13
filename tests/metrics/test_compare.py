from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_cases import shared_case

from relgate.eval.metrics.align import align
from relgate.eval.metrics.compare import (
    bootstrap_interval,
    compare,
    compare_values,
    minimum_detectable_effect,
    queries_needed,
    sign_flip_bounds,
    sign_flip_p,
)
from relgate.eval.metrics.conventions import Conventions, Metric
from relgate.eval.metrics.score import score_run, score_runs
from relgate.rubrics.errors import UsageError

# reference/statistics.md 2.9: mean .05625, exact two-sided p 56/256
DELTAS = np.array([0.1, -0.05, 0.2, 0.0, 0.15, 0.05, 0.1, -0.1])
NAN = math.nan


def test_the_exact_sign_flip_p_of_the_reference() -> None:
    assert DELTAS.mean() == pytest.approx(0.05625)
    assert sign_flip_p(DELTAS) == 56 / 256


@settings(deadline=None, max_examples=50)
@given(st.lists(st.integers(-20, 20), min_size=1, max_size=9))
def test_the_exact_p_equals_counting_every_pattern(tenths: list[int]) -> None:
    """Integers, so that the count is beyond rounding."""
    n, observed = len(tenths), abs(sum(tenths))
    patterns = (
        sum(-d if mask >> i & 1 else d for i, d in enumerate(tenths)) for mask in range(2**n)
    )
    extreme = sum(abs(total) >= observed for total in patterns)
    assert sign_flip_p(np.array(tenths) / 10) == pytest.approx(extreme / 2**n, abs=1e-12)


def test_drawn_flips_come_near_the_exact_p() -> None:
    many = np.concatenate((DELTAS, np.full(30, 1e-15)))  # too small to matter, too many to list
    assert sign_flip_p(many, flips=40_000) == pytest.approx(56 / 256, abs=0.01)


def test_drawn_flips_repeat_with_their_seed_and_never_give_zero() -> None:
    clear = np.full(60, 0.1)
    assert sign_flip_p(clear, flips=999) == 1 / 1000
    noise = np.random.default_rng(1).normal(0, 0.1, 60)
    assert sign_flip_p(noise, seed=3) == sign_flip_p(noise, seed=3)
    assert sign_flip_p(noise, seed=3) != sign_flip_p(noise, seed=4)


def test_no_change_at_all_has_p_1_and_no_query_has_none() -> None:
    assert sign_flip_p(np.zeros(40)) == 1
    assert math.isnan(sign_flip_p(np.array([])))


def test_under_no_effect_the_p_is_below_a_tenth_in_a_tenth_of_trials() -> None:
    rng = np.random.default_rng(7)
    ps = np.array([sign_flip_p(rng.normal(0, 1, 12)) for _ in range(400)])
    assert abs((ps <= 0.1).mean() - 0.1) < 0.045  # three standard errors


def test_the_bootstrap_interval_is_near_the_normal_one_for_many_deltas() -> None:
    deltas = np.random.default_rng(5).normal(0.02, 0.1, 2_000)
    low, high = bootstrap_interval(deltas)
    half = 1.96 * deltas.std(ddof=1) / math.sqrt(2_000)
    assert low == pytest.approx(deltas.mean() - half, abs=3e-4)
    assert high == pytest.approx(deltas.mean() + half, abs=3e-4)


def test_the_bootstrap_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(11)
    inside = 0
    for _ in range(300):
        low, high = bootstrap_interval(rng.normal(0.3, 1, 60), resamples=500)
        inside += low <= 0.3 <= high
    assert 0.90 <= inside / 300 <= 0.98


def test_the_bootstrap_interval_repeats_with_its_seed_and_narrows_with_the_level() -> None:
    assert bootstrap_interval(DELTAS, seed=1) == bootstrap_interval(DELTAS, seed=1)
    low, high = bootstrap_interval(DELTAS)
    low_80, high_80 = bootstrap_interval(DELTAS, level=0.8)
    assert low < low_80 < high_80 < high


def test_one_query_has_no_interval() -> None:
    assert all(math.isnan(end) for end in bootstrap_interval(np.array([0.1])))
    assert math.isnan(minimum_detectable_effect(np.array([0.1])))
    assert queries_needed(np.array([0.1]), 0.01) is None


@pytest.mark.parametrize(
    ("sd", "n", "mde"),
    [
        (0.12, 50, 0.0475),
        (0.12, 100, 0.0336),
        (0.12, 247, 0.0214),
        (0.12, 500, 0.0150),
        (0.12, 1000, 0.0106),
        (0.20, 247, 0.0357),  # printed .0357 there; 2.80 x .20 / sqrt(247) = .03563
        (0.20, 1000, 0.0177),
    ],
)
def test_the_minimum_detectable_effect_of_the_reference(sd: float, n: int, mde: float) -> None:
    raw = np.random.default_rng(n).normal(0, 1, n)
    deltas = (raw - raw.mean()) / raw.std(ddof=1) * sd
    assert minimum_detectable_effect(deltas) == pytest.approx(mde, abs=1e-4)
    assert queries_needed(deltas, minimum_detectable_effect(deltas)) == n


@pytest.mark.parametrize("bad", [NAN, math.inf])
def test_a_delta_that_is_no_number_is_refused(bad: float) -> None:
    deltas = np.array([0.1, bad])
    for figure in (sign_flip_p, bootstrap_interval, minimum_detectable_effect):
        with pytest.raises(UsageError, match="finite"):
            figure(deltas)


def test_settings_that_mean_nothing_are_refused() -> None:
    with pytest.raises(UsageError, match="flips"):
        sign_flip_p(DELTAS, flips=0)
    with pytest.raises(UsageError, match="resamples"):
        bootstrap_interval(DELTAS, resamples=0)
    with pytest.raises(UsageError, match="level"):
        bootstrap_interval(DELTAS, level=1.0)
    with pytest.raises(UsageError, match="effect"):
        queries_needed(DELTAS, 0)
    with pytest.raises(UsageError, match="threshold"):
        compare_values(DELTAS, DELTAS, name="x", threshold=NAN)
    with pytest.raises(UsageError, match="cannot be paired"):
        compare_values(DELTAS, DELTAS[:3], name="x")
    with pytest.raises(UsageError, match="infinite"):
        compare_values(DELTAS, DELTAS + math.inf, name="x")


def test_m16_an_unreadable_value_is_neither_0_nor_dropped_in_silence(shared: Path) -> None:
    case = shared_case(shared, "M16")
    before = np.array(case["input"]["system_a"], np.float64)
    after = np.array(case["input"]["system_b"], np.float64)
    found = compare_values(before, after, name="grade")
    assert found.n == case["right"]["expect"]["paired_n"]
    assert (found.mean_before, found.mean_after) == (4.5, 4.0)
    assert (found.before_only.tolist(), found.after_only.tolist()) == ([], [2])


def test_a_drop_equal_to_the_threshold_is_no_drop_and_rounding_is_no_change() -> None:
    before = np.array([0.8, 0.9, 0.5, 0.3])
    after = np.array([0.7, 0.79, 0.5 - 1e-12, 0.1 + 0.2])  # 0.7 - 0.8 is below -0.1 in binary
    found = compare_values(before, after, name="x", threshold=0.1)
    assert (found.improved, found.worse, found.dropped) == (0, 2, 1)


def test_a_query_that_fails_after_counts_as_a_drop_to_zero(make_list, make_run) -> None:
    judgments = make_list({"q": {"a": 3}, "r": {"a": 3}})
    runs = [
        make_run({"q": ["a"], "r": ["a"]}),
        make_run({"q": ["a"], "r": None}, failures={"r": "parsing_exception"}),
    ]
    before, after = score_runs(judgments, runs, align(judgments, runs), Conventions())
    found = compare(before, after, Metric.NDCG)
    assert (found.deltas.tolist(), found.index.tolist()) == ([0, -1], [0, 1])
    assert found.name == "nDCG(gain=exp2)@10"


def test_a_query_without_hits_in_the_file_is_listed_and_not_paired(make_list, make_run) -> None:
    judgments = make_list({"q": {"a": 3}, "r": {"a": 3}})
    runs = [make_run({"q": ["a"], "r": ["a"]}), make_run({"q": ["a"], "r": None})]
    before, after = score_runs(judgments, runs, align(judgments, runs), Conventions())
    found = compare(before, after, Metric.NDCG)
    assert (found.n, found.before_only.tolist()) == (1, [1])


def test_sides_that_do_not_compare_are_refused(make_list, make_run) -> None:
    judgments, run = make_list({"q": {"a": 3}}), make_run({"q": ["a"]})
    axis = align(judgments, [run])
    base = score_run(judgments, run, axis, 0, Conventions())
    other_gain = score_run(judgments, run, axis, 0, Conventions(gain="linear"))
    with pytest.raises(UsageError, match="conventions"):
        compare(base, other_gain, Metric.NDCG)
    other_grades = score_run(make_list({"q": {"a": 2}}), run, axis, 0, Conventions())
    with pytest.raises(UsageError, match="different judgments"):
        compare(base, other_grades, Metric.NDCG)
    longer = make_run({"q": ["a"], "r": ["a"]})
    other_axis = score_run(judgments, longer, align(judgments, [longer]), 0, Conventions())
    with pytest.raises(UsageError, match="axes"):
        compare(base, other_axis, Metric.NDCG)


@st.composite
def boxes(draw, least: int, most: int):
    """Where each delta may lie, in tenths, and a point of it."""
    n = draw(st.integers(least, most))
    ends = [sorted((draw(st.integers(-9, 9)), draw(st.integers(-9, 9)))) for _ in range(n)]
    low, high = (np.array([e[i] for e in ends]) / 10 for i in (0, 1))
    inside = np.array([draw(st.integers(*e)) for e in ends]) / 10
    return low - 1e-12, high + 1e-12, inside


@settings(deadline=None, max_examples=400)
@given(boxes(1, 8))
def test_no_deltas_within_their_bounds_leave_the_bounds_of_p(box) -> None:
    low, high, inside = box
    least, most = sign_flip_bounds(low, high)
    assert least <= sign_flip_p(inside) <= most


@settings(deadline=None, max_examples=60)
@given(boxes(21, 40), st.integers(0, 3))
def test_drawn_flips_are_bounded_by_the_same_draw(box, seed: int) -> None:
    low, high, inside = box
    least, most = sign_flip_bounds(low, high, flips=500, seed=seed)
    assert least <= sign_flip_p(inside, flips=500, seed=seed) <= most


def test_the_bounds_of_certain_deltas_are_their_p() -> None:
    assert sign_flip_bounds(DELTAS, DELTAS) == (56 / 256, 56 / 256)
    clear = np.full(30, 0.1)
    assert sign_flip_bounds(clear, clear) == (sign_flip_p(clear),) * 2
    assert sign_flip_bounds(clear, clear + 0.3)[1] < 0.05
    assert sign_flip_bounds(-clear, clear)[1] == 1.0


def test_where_the_way_of_counting_is_open_nothing_is_said_of_p() -> None:
    maybe = np.linspace(0, 0.2, 30)  # 30 may differ from 0, or none
    assert sign_flip_bounds(np.zeros(30), maybe) == (0.0, 1.0)
