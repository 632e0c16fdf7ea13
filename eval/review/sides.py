"""One query on one side: what came back, what of it is graded, what it scores. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import NDArray

from relgate.eval.lists.types import JudgmentList, Source, match_key
from relgate.eval.metrics.align import Axis
from relgate.eval.metrics.conventions import Metric
from relgate.eval.metrics.types import RunScores
from relgate.eval.review.types import QueryEvidence, RankedDoc, Side, Unrated
from relgate.eval.runs.types import GivenQuery, Run

__all__ = ["SideInput", "build_sides", "unrated_of"]


@dataclass(frozen=True, slots=True, eq=False)
class SideInput:
    """A run, where it stands on the axis (per query, -1 when absent), and its scores."""

    run: Run
    index: NDArray[np.int64]
    scores: RunScores


@dataclass(frozen=True, slots=True)
class _Known:
    """What the list says of one query: grade and maker of each document, by match key."""

    grades: Mapping[str, int]
    sources: Mapping[str, Source]


_NOTHING = _Known({}, {})


def build_sides(
    judgments: JudgmentList, side: SideInput, axis: Axis, gate: Metric | None
) -> list[Side]:
    """One `Side` for each query of the axis.

    Args:
        judgments: the list that `axis` was made with.
        side: the run and its scores.
        axis: from `align`.
        gate: the metric that gates; None takes the file's own scores.
    """
    known = _known(judgments)
    places = zip(side.index.tolist(), axis.list_index.tolist(), strict=True)
    return [
        Side(absent=True)
        if index < 0
        else _listed(side, index, known.get(listed, _NOTHING), _measured(side, at, index, gate))
        for at, (index, listed) in enumerate(places)
    ]


def _known(judgments: JudgmentList) -> dict[int, _Known]:
    sources: list[dict[str, Source]] = [{} for _ in judgments.queries]
    made = [origin.source for origin in judgments.origins]
    rows: list[tuple[int, int]] = list(
        zip(judgments.query.tolist(), judgments.origin.tolist(), strict=True)
    )
    for (q, origin), doc_id in zip(rows, judgments.doc_id, strict=True):
        sources[q][match_key(doc_id)] = made[origin]
    return {q: _Known(grades, sources[q]) for q, grades in enumerate(judgments.grades_by_query())}


@dataclass(frozen=True, slots=True)
class _Measured:
    """A query's value, and what came back unrated."""

    value: float
    returned: int
    unrated: int
    told: bool


def _measured(side: SideInput, at: int, index: int, gate: Metric | None) -> _Measured:
    run, scores = side.run, side.scores
    if gate is not None:
        value = float(scores.values[gate][at]) if scores.scored[at] else nan
        return _Measured(value, int(scores.returned[at]), int(scores.unrated[at]), told=True)
    query_id = run.queries[index].id
    given = None if run.given is None else run.given.queries.get(query_id)
    depth = (None if run.given is None else run.given.k) or scores.conventions.k
    value = 0.0 if query_id in run.failures else _given_score(given)
    listed = None if run.docs[index] is None else _top(side, index)
    returned, unrated, told = _given_unrated(given, listed, depth)
    return _Measured(value, returned, unrated, told)


def _top(side: SideInput, index: int) -> tuple[str, ...]:
    return (side.run.docs[index] or ())[: side.scores.conventions.k]


def _listed(side: SideInput, index: int, known: _Known, measured: _Measured) -> Side:
    docs = _top(side, index)
    return Side(
        value=measured.value,
        error=side.run.failures.get(side.run.queries[index].id),
        listed=side.run.docs[index] is not None,
        returned=measured.returned,
        unrated=measured.unrated,
        unrated_known=measured.told,
        top=tuple(
            RankedDoc(d, known.grades.get(match_key(d)), known.sources.get(match_key(d)))
            for d in docs
        ),
        best_rank=_best_rank(docs, known.grades, side.scores.conventions.floor),
    )


def _given_score(given: GivenQuery | None) -> float:
    return nan if given is None or given.metric_score is None else given.metric_score


def _given_unrated(
    given: GivenQuery | None, docs: Sequence[str] | None, k: int
) -> tuple[int, int, bool]:
    """(returned, unrated, whether the file tells) of a query within k, by the file's own word.

    Where the file lists no documents (None), k of them are taken to have come back.
    """
    returned = {match_key(doc) for doc in docs or ()}
    if given is None or given.unrated is None:
        return len(returned), 0, docs is not None and not docs
    unrated = {match_key(doc) for doc in given.unrated}
    if docs is None:
        return k, min(len(unrated), k), True
    if given.ratings is not None:  # a hit without a rating is unrated, whatever the list says
        unrated |= returned - {match_key(doc) for doc in given.ratings}
    return len(returned), len(returned & unrated), True


def _best_rank(docs: Sequence[str], grades: Mapping[str, int], floor: int) -> int | None:
    best = max(grades.values(), default=-1)
    if best < floor:
        return None
    ranks = (rank for rank, doc in enumerate(docs, 1) if grades.get(match_key(doc)) == best)
    return next(ranks, None)


def unrated_of(queries: Sequence[QueryEvidence], limit: float) -> Unrated:
    """How much of what came back within k nobody has graded, over all queries.

    Args:
        queries: the queries.
        limit: R8's share, above which a query counts as mostly unrated.
    """
    after = [q.now for q in queries if q.now.returned]
    answered = [q.now for q in queries if not q.now.absent and q.now.error is None]
    return Unrated(
        known=all(side.unrated_known for side in answered),
        mean_before=_mean_share([q.was for q in queries]),
        mean_after=_mean_share([q.now for q in queries]),
        queries=len(after),
        mostly=sum(side.mostly_unrated(limit) for side in after),
        empty=sum(not side.returned for side in answered),
    )


def _mean_share(sides: Sequence[Side]) -> float:
    shares = [s.unrated / s.returned for s in sides if s.returned and s.unrated_known]
    return sum(shares) / len(shares) if shares else nan
