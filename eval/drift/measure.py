"""Scores a run over a golden set into what the alarm compares. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from relgate.eval.drift.means import core, means_of
from relgate.eval.drift.types import Measured, MeasuredQuery
from relgate.eval.golden.types import GoldenQuery, GoldenSet
from relgate.eval.lists.build import ListBuilder
from relgate.eval.lists.types import SCALES, JudgmentList, Provenance, Query, Source, match_key
from relgate.eval.metrics.align import align
from relgate.eval.metrics.conventions import Conventions, Metric
from relgate.eval.metrics.score import score_runs
from relgate.eval.runs.types import Run
from relgate.rubrics.errors import UsageError

__all__ = ["golden_judgments", "measure"]

_GOOD = 2


def golden_judgments(golden: GoldenSet) -> JudgmentList:
    """The grades of a set as a list; judgments whose locator is not resolved are left out.

    A rater's grade is a person's; else it is an import.
    """
    if golden.scale not in SCALES:
        raise UsageError(f"no scale {golden.scale!r}; one of: {', '.join(SCALES)}")
    builder = ListBuilder(SCALES[golden.scale].once_read)
    for query in golden.queries:
        builder.add_query(Query(query.id, query.text))
    for query, judgment in golden.pairs():
        if judgment.doc_id is None:
            continue
        rated = judgment.rater is not None or bool(judgment.ratings)
        builder.add(
            Query(query.id, query.text),
            judgment.doc_id,
            judgment.grade,
            Provenance(Source.HUMAN if rated else Source.IMPORT, rater=judgment.rater),
        )
    return builder.build()


def measure(
    golden: GoldenSet,
    run: Run,
    conventions: Conventions,
    *,
    stages: Mapping[str, str],
    latency_ms: Mapping[str, float] | None = None,
) -> Measured:
    """One run over the whole set.

    Args:
        golden: the set.
        run: one query each, by the ids of the set; one that is missing counts as failed.
        conventions: depth, floor, gain.
        stages: which combination it was.
        latency_ms: percentiles, where they were recorded.
    """
    judgments = golden_judgments(golden)
    axis = align(judgments, [run], {q.id: q.text for q in golden.queries})
    (scores,) = score_runs(judgments, [run], axis, conventions)
    place = {match_key(query.id): i for i, query in enumerate(axis.queries)}
    docs = {match_key(q.id): found for q, found in zip(run.queries, run.docs, strict=True)}
    scored = scores.scored

    def value_of(metric: Metric, query: GoldenQuery) -> float | None:
        """None for a query that no mean is over."""
        at = place[match_key(query.id)]
        return round(float(scores.values[metric][at]), 12) if scored[at] else None

    queries = tuple(
        replace(
            _of_golden(query, docs.get(match_key(query.id)), conventions.k),
            ndcg=value_of(Metric.NDCG, query),
            mrr=value_of(Metric.MRR, query),
            precision=value_of(Metric.PRECISION, query),
            failed=match_key(query.id) not in docs or _failed(run, query),
        )
        for query in golden.queries
    )
    return Measured(stages, queries, means_of(core(queries)), latency_ms)


def _failed(run: Run, query: GoldenQuery) -> bool:
    return any(match_key(query_id) == match_key(query.id) for query_id in run.failures)


def _of_golden(query: GoldenQuery, docs: Sequence[str] | None, k: int) -> MeasuredQuery:
    returned = None if docs is None else len(dict.fromkeys(docs))
    return MeasuredQuery(
        id=query.id,
        text=query.text,
        ndcg=None,
        mrr=None,
        precision=None,
        returned=returned,
        empty=returned == 0,
        set=query.set,
        stratum=query.stratum,
        filtered=bool(query.filters),
        expect=query.expect,
        held=None if query.expect is None or docs is None else _held(query, docs[:k]),
        weight=query.weight,
    )


def _held(query: GoldenQuery, docs: Sequence[str]) -> bool:
    if query.expect == "empty":
        return not docs
    if query.expect == "non-empty":
        return bool(docs)
    good = {match_key(j.doc_id) for j in query.judgments if j.doc_id and j.grade >= _GOOD}
    return any(match_key(doc) in good for doc in docs)
