"""AP, ERR, RBP with its residual, and the variants without what nobody rated."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from relgate.eval.metrics import kernel
from relgate.eval.metrics.conventions import Conventions, Further, Metric
from relgate.eval.metrics.totals import RunTotals, Totals
from relgate.eval.metrics.types import RunScores

DOCS = "abcdefgh"
GRADES = st.dictionaries(st.sampled_from(DOCS), st.integers(0, 3), max_size=8)
RANKED = st.lists(st.sampled_from(DOCS), max_size=12)


def matrix(*row: int) -> np.ndarray:
    return np.array([row], np.int16)


@pytest.mark.parametrize(
    ("persistence", "value", "tail"),
    [(0.5, 0.6875, 0.03125), (0.8, 0.4304, 0.32768), (0.95, 0.1380, 0.7738)],
)
def test_rbp_of_the_reference(persistence: float, value: float, tail: float) -> None:
    """statistics.md 2.10: [1,0,1,1,0] at p .5, .8, .95, with the tail of five ranks."""
    top = matrix(1, 0, 1, 1, 0)
    (rbp,) = kernel.rank_biased_precision(top, np.array([0.0, 1.0]), persistence)
    (residual,) = kernel.rank_biased_residual(top, persistence)
    assert (rbp, residual) == (pytest.approx(value, abs=5e-5), pytest.approx(tail, abs=5e-5))


def test_an_unrated_rank_is_in_the_residual_and_not_in_rbp() -> None:
    """(1 - .5) .5^1 for rank 2, and .5^3 for all below."""
    top = matrix(1, kernel.UNRATED, 0)
    assert kernel.rank_biased_precision(top, np.array([0.0, 1.0]), 0.5)[0] == 0.5
    assert kernel.rank_biased_residual(top, 0.5)[0] == 0.25 + 0.125


def test_a_graded_document_counts_in_rbp_by_its_share_of_the_best_gain() -> None:
    gains = Conventions().gains(4)
    assert kernel.rank_biased_precision(matrix(2), gains, 0.5)[0] == pytest.approx(0.5 * 3 / 7)


def test_err_by_hand() -> None:
    """Grades 3, 2 of at most 3: 7/8 + 1/2 * 1/8 * 3/8 (Chapelle et al. 2009, equation 4)."""
    assert kernel.expected_reciprocal_rank(matrix(3, 2), 4)[0] == pytest.approx(0.875 + 3 / 128)
    assert kernel.expected_reciprocal_rank(matrix(0, kernel.UNRATED, 3), 4)[0] == pytest.approx(
        7 / 24
    )


def test_ap_by_hand() -> None:
    """Relevant at ranks 1 and 3 of four judged relevant: (1 + 2/3) / 4."""
    hist = np.array([[1, 0, 4, 0]])
    assert kernel.average_precision(matrix(2, 0, 2), hist, 2)[0] == pytest.approx((1 + 2 / 3) / 4)
    assert isnan(kernel.average_precision(matrix(1), np.array([[0, 3, 0, 0]]), 2)[0])


@settings(deadline=None, max_examples=200)
@given(GRADES.filter(lambda g: max(g.values(), default=0) > 0), st.permutations(DOCS))
def test_ap_is_trec_evals_map_cut(score, grades: dict[str, int], ranked: Sequence[str]) -> None:
    found = score({"q": grades}, {"q": list(ranked)}, Conventions.trec_eval(5)).further()
    evaluator = pytrec_eval.RelevanceEvaluator({"q": grades}, {"map_cut_5"})
    run = {"q": {doc: float(-rank) for rank, doc in enumerate(ranked)}}
    assert found[Further.AP][0] == pytest.approx(evaluator.evaluate(run)["q"]["map_cut_5"])


def test_condensed_drops_the_unrated_and_keeps_the_order(score) -> None:
    """statistics.md 2.10: [0,3,0,1], the zeros unjudged: standard .6399, condensed 1.0 (linear)."""
    grades, ranked = {"q": {"a": 3, "b": 1}}, {"q": ["x", "a", "y", "b"]}

    def ndcg(unrated: str) -> float:
        conventions = Conventions(gain="linear", unrated=unrated)
        return score(grades, ranked, conventions).values[Metric.NDCG][0]

    assert (ndcg("zero"), ndcg("condensed")) == (pytest.approx(0.6399, abs=5e-5), 1.0)


def test_judged_only_looks_at_the_top_k_and_condensed_below_it(score) -> None:
    """k = 2 of x a b: judged-only sees a, condensed a and b."""
    grades, ranked = {"q": {"a": 2, "b": 2}}, {"q": ["x", "a", "b"]}

    def p_and_judged(unrated: str) -> tuple[float, float]:
        found = score(grades, ranked, Conventions(k=2, unrated=unrated)).values
        return found[Metric.PRECISION][0], found[Metric.JUDGED][0]

    assert p_and_judged("zero") == (0.5, 0.5)
    assert p_and_judged("judged-only") == (1.0, 0.5)  # 1 of the 1 judged
    assert p_and_judged("condensed") == (1.0, 0.5)  # 2 of 2
    nothing = score(grades, {"q": ["x"]}, Conventions(unrated="judged-only")).values
    assert nothing[Metric.PRECISION][0] == 0.0


def totals_of(scores: RunScores) -> RunTotals:
    totals = Totals(scores.name, scores.conventions)
    totals.add(scores)
    return totals.totals()


def test_means_are_over_the_queries_that_count(score) -> None:
    scores = score(
        {"q": {"a": 3}, "none": {"a": 0}, "low": {"a": 1}},
        {"q": ["a"], "none": ["a"], "low": ["a"]},
    )
    means = totals_of(scores).means
    assert {m.value: means[m].n for m in Further} == {
        "ap": 1,  # "low" has no relevant judgment at floor 2
        "err": 2,
        "rbp": 2,
        "rbp_residual": 2,
    }
    assert means[Further.ERR].value == pytest.approx((7 / 8 + 1 / 8) / 2)
    assert isnan(scores.further()[Further.AP][1])


def test_an_unjudged_query_has_no_value_and_a_missing_one_has_zero(score) -> None:
    found = score({"q": {"a": 3}, "gone": {"a": 3}}, {"q": ["a"], "new": ["a"]})
    by_id = {query.id: i for i, query in enumerate(found.queries)}
    further = found.further()
    assert isnan(further[Further.RBP][by_id["new"]])
    assert [further[m][by_id["gone"]] for m in Further] == [0, 0, 0, 1]


CONVENTIONS = st.builds(
    Conventions,
    k=st.integers(1, 12),
    floor=st.integers(1, 3),
    gain=st.sampled_from(["exp2", "linear"]),
    no_ideal=st.sampled_from(["apart", "zero"]),
    unrated=st.sampled_from(["zero", "condensed", "judged-only"]),
    persistence=st.floats(0.01, 0.99),
)
QUERIES = st.lists(st.tuples(GRADES, RANKED), min_size=1, max_size=10)


def check_ranges(score, queries, conventions: Conventions) -> None:
    found = score(
        {f"q{i}": grades for i, (grades, _) in enumerate(queries)},
        {f"q{i}": ranked for i, (_, ranked) in enumerate(queries)},
        conventions,
    )
    further = found.further()
    for name, values in {**found.values, **further}.items():
        defined = values[~np.isnan(values)]
        assert ((defined >= 0) & (defined <= 1 + 1e-12)).all(), name
    total = further[Further.RBP] + further[Further.RBP_RESIDUAL]
    assert not (total > 1 + 1e-9).any()
    for mean in totals_of(found).means.values():
        assert isnan(mean.value) or 0 <= mean.value <= 1 + 1e-12


@settings(deadline=None, max_examples=300)
@given(QUERIES, CONVENTIONS)
def test_no_metric_leaves_0_to_1(score, queries, conventions: Conventions) -> None:
    check_ranges(score, queries, conventions)


@pytest.mark.soak
@settings(deadline=None, max_examples=20_000)
@given(QUERIES, CONVENTIONS)
def test_no_metric_leaves_0_to_1_over_100_000_random_queries(
    score, queries, conventions: Conventions
) -> None:
    """20,000 lists of 1 to 10 queries."""
    check_ranges(score, queries, conventions)
