"""Challenge and shadow queries of a golden set: scored and reported, never gating. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from relgate.eval.lists.types import JudgmentList, Query
from relgate.eval.metrics.conventions import Conventions, Metric
from relgate.eval.review.aggregates import recomputed_aggregates
from relgate.eval.review.scored import Scored, score_sides
from relgate.eval.review.supplied import SetRuns
from relgate.eval.review.types import Aggregate, ApartFigures
from relgate.eval.runs.types import GivenScores, Run
from relgate.rubrics.errors import InputError

__all__ = ["apart_of", "apart_warnings", "split_sets"]

GATING = "core"


def split_sets(
    before: Run, after: Run, set_of: Callable[[Query], str | None]
) -> tuple[Run, Run, tuple[SetRuns, ...]]:
    """The two runs with their core queries alone, and those of each other set.

    Args:
        before: the run before the change.
        after: the run after it.
        set_of: the set of a query; None counts as core.

    Raises:
        InputError: no query of a run is core.
    """
    found = {query.id: set_of(query) or GATING for run in (before, after) for query in run.queries}
    names = sorted({name for name in found.values() if name != GATING})
    if not names:
        return before, after, ()
    gating = [_only(run, found, GATING) for run in (before, after)]
    if not all(run.queries for run in gating):
        raise InputError(
            f"every query of the runs is in {' or '.join(names)}, and only core queries gate",
            mend="promote some (relgate golden promote), or review without the query table",
        )
    others = (SetRuns(n, _only(before, found, n), _only(after, found, n)) for n in names)
    return gating[0], gating[1], tuple(others)


def _only(run: Run, set_of: Mapping[str, str], name: str) -> Run:
    keep = [at for at, query in enumerate(run.queries) if set_of[query.id] == name]
    ids = {run.queries[at].id for at in keep}
    return replace(
        run,
        queries=tuple(run.queries[at] for at in keep),
        docs=tuple(run.docs[at] for at in keep),
        failures=MappingProxyType({i: e for i, e in run.failures.items() if i in ids}),
        given=None if run.given is None else _given(run.given, ids),
    )


def _given(given: GivenScores, ids: set[str]) -> GivenScores:
    """The file's own scores of these queries; its mean was over others too, and is dropped."""
    queries = {query_id: score for query_id, score in given.queries.items() if query_id in ids}
    return replace(given, metric_score=None, queries=MappingProxyType(queries))


def apart_of(
    judgments: JudgmentList | None,
    sets: Sequence[SetRuns],
    conventions: Conventions,
    texts: Mapping[str, str],
) -> tuple[ApartFigures, ...]:
    """The figures of each set.

    Raises:
        InputError: queries that cannot be matched.
    """
    return tuple(_figures(judgments, one, conventions, texts) for one in sets)


def _figures(
    judgments: JudgmentList | None,
    one: SetRuns,
    conventions: Conventions,
    texts: Mapping[str, str],
) -> ApartFigures:
    runs = (one.before, one.after)
    n = len({query.id for run in runs for query in run.queries})
    if judgments is None or not all(run.queries for run in runs):
        return ApartFigures(one.name, n, None, _emptied(*runs))
    scored = score_sides(judgments, runs, conventions, texts)
    return ApartFigures(one.name, n, _mean(scored), _emptied(*runs))


def _mean(scored: Scored) -> Aggregate | None:
    gate = scored.gate or Metric.NDCG
    unweighted = np.full(len(scored.axis), np.nan)
    found = {a.key: a for a in recomputed_aggregates(scored.scores, gate, unweighted)}
    return found.get(gate.value)


def _emptied(before: Run, after: Run) -> tuple[str, ...]:
    """Queries, as shown, that found documents before and find none after."""
    had = {q.id for q, docs in zip(before.queries, before.docs, strict=True) if docs}
    return tuple(
        query.shown
        for query, docs in zip(after.queries, after.docs, strict=True)
        if docs == () and query.id in had
    )


def apart_warnings(sets: Sequence[ApartFigures]) -> list[str]:
    """One sentence a set."""
    return [_sentence(one) for one in sets]


def _sentence(one: ApartFigures) -> str:
    counted = f"{one.queries} {'query' if one.queries == 1 else 'queries'}"
    head = f"{one.name} set: {counted} reported apart, never gating"
    if one.relevance is None or not np.isfinite(one.relevance.delta):
        return f"{head}: no figure"
    mean = one.relevance
    return f"{head}: {mean.name} {mean.before:.4f} to {mean.after:.4f} ({mean.delta:+.4f})"
