"""What holds for every input: ranges, order, and equality with the metrics written out plainly."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relgate.eval.lists.types import SCALES, JudgmentList, Provenance, Query, Source
from relgate.eval.metrics.align import align
from relgate.eval.metrics.conventions import Conventions, Metric
from relgate.eval.metrics.score import score_run
from relgate.eval.runs.types import Run

DOCS = "abcdefgh"
GRADES = st.dictionaries(st.sampled_from(DOCS), st.integers(0, 3), max_size=8)
RANKED = st.lists(st.sampled_from(DOCS), max_size=12)
CONVENTIONS = st.builds(
    Conventions,
    k=st.integers(1, 12),
    floor=st.integers(1, 3),
    gain=st.sampled_from(["exp2", "linear"]),
    no_ideal=st.sampled_from(["apart", "zero"]),
)


def plain(
    grades: Mapping[str, int], ranked: Sequence[str], conventions: Conventions
) -> dict[Metric, float]:
    """The metrics of one judged query as their definitions read, one document at a time."""

    def gain(grade: int) -> float:
        return float(grade) if conventions.gain == "linear" else 2.0**grade - 1.0

    def dcg(grades_in_order: Sequence[int]) -> float:
        return sum(gain(g) / math.log2(r + 2) for r, g in enumerate(grades_in_order))

    k, floor = conventions.k, conventions.floor
    top = ranked[:k]
    fresh = [doc if doc not in top[:r] else None for r, doc in enumerate(top)]
    effective = [grades.get(doc, 0) if doc else 0 for doc in fresh]
    distinct = [doc for doc in fresh if doc]
    ideal = dcg(sorted(grades.values(), reverse=True)[:k])
    relevant = sum(grade >= floor for grade in grades.values())
    found = sum(grade >= floor for grade in effective)
    undefined = 0.0 if conventions.no_ideal == "zero" else math.nan
    rr = [1 / (r + 1) for r, grade in enumerate(effective) if grade >= floor]
    return {
        Metric.NDCG: dcg(effective) / ideal if ideal else undefined,
        Metric.MRR: rr[0] if rr else 0.0,
        Metric.PRECISION: found / k,
        Metric.RECALL: found / relevant if relevant else undefined,
        Metric.HIT: float(found > 0),
        Metric.JUDGED: (
            sum(doc in grades for doc in distinct) / len(distinct) if distinct else math.nan
        ),
    }


@settings(deadline=None, max_examples=400)
@given(st.lists(st.tuples(GRADES, RANKED), min_size=1, max_size=5), CONVENTIONS)
def test_every_metric_equals_its_plain_definition(score, queries, conventions) -> None:
    scores = score(
        {f"q{i}": grades for i, (grades, _) in enumerate(queries)},
        {f"q{i}": ranked for i, (_, ranked) in enumerate(queries)},
        conventions,
    )
    for i, (grades, ranked) in enumerate(queries):
        expected = plain(grades, ranked, conventions)
        if not grades:
            expected = {**dict.fromkeys(Metric, math.nan), Metric.JUDGED: expected[Metric.JUDGED]}
        for metric, value in expected.items():
            found = scores.values[metric][i]
            assert found == pytest.approx(value, abs=1e-12, nan_ok=True), metric


@settings(deadline=None, max_examples=300)
@given(GRADES.filter(lambda g: max(g.values(), default=0) > 0), st.permutations(DOCS), st.data())
def test_a_better_document_moved_up_never_lowers_ndcg(score, grades, ranked, data) -> None:
    upper = data.draw(st.integers(0, len(ranked) - 2))
    lower = data.draw(st.integers(upper + 1, len(ranked) - 1))
    k = data.draw(st.integers(1, 8))
    swapped = list(ranked)
    swapped[upper], swapped[lower] = ranked[lower], ranked[upper]
    scores = score(
        {"q": grades, "r": grades}, {"q": list(ranked), "r": swapped}, Conventions(k=k)
    ).values[Metric.NDCG]
    if grades.get(ranked[lower], 0) >= grades.get(ranked[upper], 0):
        assert scores[1] >= scores[0] - 1e-12
    else:
        assert scores[1] <= scores[0] + 1e-12


@settings(deadline=None, max_examples=100)
@given(GRADES.filter(lambda g: max(g.values(), default=0) > 0), CONVENTIONS)
def test_the_ideal_order_scores_one(score, grades, conventions) -> None:
    best_first = sorted(grades, key=lambda doc: -grades[doc])
    (ndcg,) = score({"q": grades}, {"q": best_first}, conventions).values[Metric.NDCG]
    assert ndcg == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("conventions", [Conventions(k=5), Conventions.trec_eval(5)])
def test_no_metric_leaves_0_to_1_over_100_000_random_queries(conventions: Conventions) -> None:
    n, judged, depth = 100_000, 4, 6
    rng = np.random.default_rng(20)
    queries = tuple(Query(str(i)) for i in range(n))
    first = rng.integers(0, len(DOCS) - judged + 1, n)  # judged: neighbours, so no pair twice
    judgments = JudgmentList(
        scale=SCALES["0-3"],
        queries=queries,
        query=np.repeat(np.arange(n, dtype=np.int32), judged),
        doc_id=tuple(DOCS[f + j] for f in first.tolist() for j in range(judged)),
        grade=rng.integers(0, 4, n * judged).astype(np.int16),
        origins=(Provenance(Source.HUMAN),),
        origin=np.zeros(n * judged, np.int32),
    )
    lengths = rng.integers(0, depth + 1, n).tolist()
    drawn = rng.integers(0, len(DOCS), (n, depth)).tolist()  # with repeats
    docs = tuple(tuple(DOCS[d] for d in row[:m]) for row, m in zip(drawn, lengths, strict=True))
    run = Run("random", queries, docs)
    scores = score_run(judgments, run, align(judgments, [run]), 0, conventions)
    assert (scores.repeats > 0).sum() > n / 4
    for metric in Metric:
        values = scores.values[metric]
        defined = values[~np.isnan(values)]
        assert len(defined) > n / 2
        assert ((defined >= 0) & (defined <= 1)).all(), metric
        assert 0 < scores.mean(metric).value < 1
