"""Means and shares over queries that may or may not count, against all choices written out."""

from __future__ import annotations

from itertools import product
from math import isnan, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relgate.eval.bounds.means import mean_bounds, share_bounds

VALUES = st.floats(-1, 1, allow_nan=False).map(lambda x: round(x, 3))
KINDS = st.sampled_from(["sure", "maybe", "never"])


@st.composite
def queries(draw):
    n = draw(st.integers(0, 5))
    ends = [sorted((draw(VALUES), draw(VALUES))) for _ in range(n)]
    kinds = [draw(KINDS) for _ in range(n)]
    return ends, kinds


def masks(kinds):
    return tuple(np.array([k == kind for k in kinds], np.bool_) for kind in ("sure", "maybe"))


@settings(deadline=None, max_examples=300)
@given(queries())
def test_the_mean_takes_each_querys_extreme_and_the_best_choice_of_queries(found) -> None:
    ends, kinds = found
    means = []
    options = {"sure": (True,), "maybe": (False, True), "never": (False,)}
    for inside in product(*(options[kind] for kind in kinds)):
        for side in (0, 1):
            taken = [e[side] for e, here in zip(ends, inside, strict=True) if here]
            if taken:
                means.append(sum(taken) / len(taken))
    low, high = np.array(ends, np.float64).reshape(len(ends), 2).T
    got = mean_bounds(low, high, *masks(kinds))
    if means:
        assert (got.low, got.high) == pytest.approx((min(means), max(means)), abs=1e-12)
    else:
        assert isnan(got.low)
        assert isnan(got.high)


@settings(deadline=None, max_examples=300)
@given(st.lists(st.tuples(KINDS, st.sampled_from(["must", "can", "cannot"])), max_size=5))
def test_the_share_is_bounded_by_all_choices(found) -> None:
    """A query that may count has the property in those fills alone that its `must`, `can` allow."""
    kinds = [kind for kind, _ in found]
    shares = []
    options = {"sure": (True,), "maybe": (False, True), "never": (False,)}
    has = {"must": (True,), "can": (False, True), "cannot": (False,)}
    for inside in product(*(options[kind] for kind in kinds)):
        for owns in product(*(has[able] for _, able in found)):
            n = sum(inside)
            if n:
                shares.append(sum(a and b for a, b in zip(inside, owns, strict=True)) / n)
    must = np.array([able == "must" for _, able in found], np.bool_)
    can = np.array([able != "cannot" for _, able in found], np.bool_)
    got = share_bounds(must, can, *masks(kinds))
    for share in shares:
        assert got.low - 1e-12 <= share <= got.high + 1e-12
    if shares and "sure" in kinds:
        assert (got.low, got.high) == pytest.approx((min(shares), max(shares)))


def test_a_query_without_a_value_is_in_no_mean() -> None:
    low = high = np.array([nan, 0.5])
    found = mean_bounds(low, high, np.array([False, True]), np.array([False, False]))
    assert (found.low, found.high) == (0.5, 0.5)
