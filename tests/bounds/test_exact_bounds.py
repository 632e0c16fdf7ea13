"""Bounds against every fill written out, and against the examples of the literature."""

from __future__ import annotations

from itertools import product
from math import isnan, log2, nan

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shared_cases import shared_case

from relgate.eval.bounds.pool import Pool, make_pool
from relgate.eval.bounds.query import (
    delta_bounds,
    falls,
    mrr_delta_bounds,
    ndcg_bounds,
    precision_delta_bounds,
)
from relgate.eval.bounds.ratio import ratio_bounds
from relgate.eval.metrics.conventions import Conventions

DOCS = "abcdefghij"


def ndcg(grades, ranked, conventions):
    """As its definition reads."""

    def dcg(values):
        gain = (lambda g: 2.0**g - 1) if conventions.gain == "exp2" else float
        return sum(gain(g) / log2(r + 2) for r, g in enumerate(values))

    top = ranked[: conventions.k]
    got = [grades.get(doc, 0) if doc not in top[:r] else 0 for r, doc in enumerate(top)]
    ideal = dcg(sorted(grades.values(), reverse=True)[: conventions.k])
    return dcg(got) / ideal if ideal else nan


def rr(grades, ranked, conventions):
    found = (
        r for r, d in enumerate(ranked[: conventions.k], 1) if grades.get(d, 0) >= conventions.floor
    )
    return 1 / next(found, float("inf"))


def precision(grades, ranked, conventions):
    top = set(ranked[: conventions.k])
    return sum(grades.get(doc, 0) >= conventions.floor for doc in top) / conventions.k


def fell(grades, before, after, conventions, top):
    """R6's own words: the best-graded document was in the top and no longer is."""
    best = max(grades.values(), default=-1)
    if best < conventions.floor:
        return False

    def rank(ranked):
        cut = enumerate(ranked[: conventions.k], 1)
        return next((r for r, doc in cut if grades.get(doc) == best), 99)

    return rank(before) <= top < rank(after)


@st.composite
def cases(draw):
    max_grade = draw(st.sampled_from([1, 3]))
    conventions = Conventions(
        k=draw(st.integers(1, 6)),
        floor=draw(st.integers(1, min(2, max_grade))),
        gain=draw(st.sampled_from(["exp2", "linear"])),
    )
    ranked = st.lists(st.sampled_from(DOCS), max_size=8)
    before, after = draw(ranked), draw(ranked)
    grades = draw(st.dictionaries(st.sampled_from(DOCS), st.integers(0, max_grade), max_size=6))
    pool = dict.fromkeys(before[: conventions.k] + after[: conventions.k])
    unrated = [doc for doc in pool if doc not in grades]
    for doc in unrated[5:]:  # 4^5 fills are written out
        grades[doc] = draw(st.integers(0, max_grade))
    return grades, before, after, conventions, max_grade


@st.composite
def doubted_cases(draw):
    """As `cases`; a judge graded some documents and may have erred, in the runs or not."""
    grades, before, after, conventions, max_grade = draw(cases())
    k = conventions.k
    unrated = {*before[:k], *after[:k]} - grades.keys()
    doubts = {}
    for doc in sorted(grades)[: 6 - len(unrated)]:  # 4^6 fills are written out
        others = draw(st.sets(st.integers(0, max_grade)))
        doubts[doc] = tuple(sorted({grades[doc], *others}))
    return grades, before, after, conventions, max_grade, doubts


def every_fill(grades, pool: Pool, max_grade, doubts=None):
    doubts = doubts or {}
    levels = [range(max_grade + 1)] * len(pool.docs) + list(doubts.values())
    for fill in product(*levels):
        yield {**grades, **dict(zip((*pool.docs, *doubts), fill, strict=True))}


def extremes(values):
    defined = [v for v in values if not isnan(v)]
    return (min(defined), max(defined)) if defined else (nan, nan)


@settings(deadline=None, max_examples=3_000)
@given(cases())
def test_bounds_are_those_of_all_fills_written_out(case) -> None:
    check_every_fill(case, {})


@settings(deadline=None, max_examples=1_500, suppress_health_check=[HealthCheck.too_slow])
@given(doubted_cases())
def test_bounds_under_a_judges_error_are_those_of_all_grades_that_stay_possible(case) -> None:
    check_every_fill(case[:-1], case[-1])


def check_every_fill(case, doubts) -> None:
    grades, before, after, conventions, max_grade = case
    pool = make_pool(grades, before, after, conventions, max_grade=max_grade, doubts=doubts)
    fills = list(every_fill(grades, pool, max_grade, doubts))
    was = [ndcg(fill, before, conventions) for fill in fills]
    now = [ndcg(fill, after, conventions) for fill in fills]
    deltas = [a - b for a, b in zip(now, was, strict=True)]
    pairs = [
        (ndcg_bounds(pool, 0, conventions), was),
        (ndcg_bounds(pool, 1, conventions), now),
        (delta_bounds(pool, conventions), deltas),
        (
            mrr_delta_bounds(pool, conventions.floor),
            [rr(f, after, conventions) - rr(f, before, conventions) for f in fills],
        ),
        (
            precision_delta_bounds(pool, conventions),
            [precision(f, after, conventions) - precision(f, before, conventions) for f in fills],
        ),
    ]
    for found, values in pairs:
        assert found.exact
        assert (found.low, found.high) == pytest.approx(extremes(values), abs=1e-12, nan_ok=True)
    out = [fell(fill, before, after, conventions, 2) for fill in fills]
    assert falls(pool, conventions.floor, 2) == (all(out), any(out))
    ideals = [any(fill.values()) for fill in fills]
    assert pool.has_ideal == all(ideals)


@settings(deadline=None, max_examples=300)
@given(doubted_cases())
def test_outer_bounds_hold_the_exact_ones(case) -> None:
    """Where a scale has too many levels to go through, the bounds are wider, never narrower."""
    grades, before, after, conventions, max_grade, doubts = case
    pool = make_pool(grades, before, after, conventions, max_grade=max_grade, doubts=doubts)
    exact = delta_bounds(pool, conventions)
    weights, gains = pool.discounts(conventions.k), conventions.gains(max_grade + 1)
    base, moves = pool.dcg[1] - pool.dcg[0], weights[:, 1] - weights[:, 0]
    outer = ratio_bounds(base, pool.groups(moves), pool.hist, gains, conventions.k, max_cells=0)
    assert not outer.exact
    assert -1 <= outer.low <= outer.high <= 1
    if not isnan(exact.low):
        assert outer.low <= exact.low + 1e-12
        assert outer.high >= exact.high - 1e-12


def test_a_fill_with_zeros_is_not_the_least(shared) -> None:
    """Case M12: zero-fill gives 1.0, x = 3 gives 0.9595."""
    case = shared_case(shared, "M12")
    given_, expect = case["input"], case["right"]["expect"]
    pool = make_pool(
        given_["judged"],
        [],
        given_["ranked"],
        Conventions(k=given_["k"]),
        max_grade=given_["max_grade"],
    )
    assert list(pool.docs) == given_["unrated"]
    found = ndcg_bounds(pool, 1, Conventions(k=given_["k"]))
    assert found.low == pytest.approx(expect["lo"], abs=expect["tol"])
    assert found.high == pytest.approx(expect["hi"], abs=expect["tol"])


def test_a_document_at_one_rank_on_both_sides_moves_the_delta_by_its_ideal_alone() -> None:
    """a is lost and worth 3; x stands first on both sides: the higher x, the smaller the loss."""
    pool = make_pool({"a": 3}, ["x", "a"], ["x"], Conventions(), max_grade=3)
    second = 1 / log2(3)
    found = delta_bounds(pool, Conventions())
    assert found.low == pytest.approx(-second)
    assert found.high == pytest.approx(-second / (1 + second))


def test_documents_beyond_k_on_both_sides_are_not_considered() -> None:
    pool = make_pool({"a": 3}, ["a", "x"], ["a", "y"], Conventions(k=1), max_grade=3)
    assert pool.docs == ()


def test_a_document_that_cannot_be_asked_for_gains_nothing() -> None:
    pool = make_pool({"a": 3}, ["a"], ["x", "a"], Conventions(), max_grade=3, askable=())
    found = delta_bounds(pool, Conventions())
    assert pool.docs == ()
    assert found.low == found.high == pytest.approx(1 / log2(3) - 1)


def test_twenty_documents_on_four_levels_are_bounded_exactly() -> None:
    before, after = [f"b{i}" for i in range(10)], [f"a{i}" for i in range(10)]
    pool = make_pool({}, before, after, Conventions(), max_grade=3)
    found = delta_bounds(pool, Conventions())
    assert (found.low, found.high, found.exact) == (pytest.approx(-1), pytest.approx(1), True)


def test_a_judge_that_cannot_have_erred_leaves_one_value() -> None:
    conventions, grades = Conventions(), {"a": 3, "b": 1}
    one = make_pool(grades, ["a"], ["b"], conventions, max_grade=3, doubts={"a": (3,)})
    found = delta_bounds(one, conventions)
    assert one.doubted == ()
    assert found.low == found.high


def test_a_judged_document_beyond_both_runs_moves_the_ideal() -> None:
    """x in neither run: at 3 it takes the first place of the ideal from a."""
    conventions = Conventions()
    grades = {"a": 3, "b": 0, "x": 0}
    pool = make_pool(grades, ["b"], ["a"], conventions, max_grade=3, doubts={"x": (0, 3)})
    found = delta_bounds(pool, conventions)
    assert found.high == pytest.approx(1)
    assert found.low == pytest.approx(1 / (1 + 1 / log2(3)))


def test_a_deep_list_under_doubt_is_bounded_exactly() -> None:
    """Ten a side, and 200 judged documents more that neither side shows: k of them count."""
    before, after = [f"b{i}" for i in range(10)], [f"a{i}" for i in range(10)]
    grades = {f"x{i}": i % 4 for i in range(200)}
    grades |= {doc: i % 4 for i, doc in enumerate(before + after)}
    sets = {0: (0, 1), 1: (0, 1, 2), 2: (1, 2, 3), 3: (2, 3)}
    pool = make_pool(
        grades, before, after, Conventions(), max_grade=3,
        doubts={doc: sets[grade] for doc, grade in grades.items()},
    )  # fmt: skip
    found = delta_bounds(pool, Conventions())
    assert found.exact
    assert -1 < found.low < found.high < 1
