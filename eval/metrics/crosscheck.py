"""Checks the scores that came in a `_rank_eval` file against our own, and explains both. Pure.

Elasticsearch and OpenSearch compute other things under the same names: the ideal is cut to the
number of hits returned, precision divides by it, relevance starts at grade 1, a query without an
ideal counts as 0, and failed queries leave the mean in silence. What a file does not tell, but must
hold for all of it, is found once a file: the way that explains the most of its scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum, isfinite

import numpy as np

from relgate.eval.lists.types import JudgmentList, Query, match_key
from relgate.eval.metrics.align import Axis
from relgate.eval.metrics.conventions import Conventions, Metric
from relgate.eval.metrics.engine import READINGS, Seen, Ways, possible_ways
from relgate.eval.metrics.types import RunScores
from relgate.eval.runs.types import GivenQuery, GivenScores, Run
from relgate.eval.wording import counted

__all__ = ["UNEXPLAINED", "CrossCheck", "Mismatch", "crosscheck"]

UNEXPLAINED = "unexplained"

_TOLERANCE = 1e-6
_OURS: Mapping[str, Metric] = {
    "dcg": Metric.NDCG,
    "precision": Metric.PRECISION,
    "mean_reciprocal_rank": Metric.MRR,
    "recall": Metric.RECALL,
}


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A score in the file that is not ours.

    Attributes:
        query: the query; None for the file's aggregate.
        given: the file's score.
        ours: the score by our conventions; NaN where undefined.
        explanation: which of the engine's ways explains it; else it begins with `unexplained`.
    """

    query: Query | None
    given: float
    ours: float
    explanation: str

    @property
    def explained(self) -> bool:
        """Whether the engine's ways, or its ratings, account for the difference."""
        return not self.explanation.startswith(UNEXPLAINED)


@dataclass(frozen=True, slots=True)
class CrossCheck:
    """What became of the scores in a file.

    Attributes:
        compared: how many of its scores were compared.
        mismatches: those that are not ours; queries first, the aggregate last.
        not_checked: why scores were left out; None when all were compared.
    """

    compared: int
    mismatches: tuple[Mismatch, ...]
    not_checked: str | None = None


@dataclass(frozen=True, slots=True)
class _Scored:
    """A query that the file holds a score of: its place on the axis, and what is known of it."""

    place: int
    score: float
    docs: tuple[str, ...] | None
    theirs: Mapping[str, float]
    known: Mapping[str, float]


def crosscheck(
    judgments: JudgmentList, run: Run, axis: Axis, run_number: int, scores: RunScores
) -> CrossCheck:
    """Compares a file's own scores with ours, to 1e-6.

    Args:
        judgments: the list that `axis` and `scores` were made with.
        run: the run, with its `given` scores.
        axis: from `align`.
        run_number: which of the axis's runs it is, from 0.
        scores: the run, scored.

    Raises:
        UsageError: `axis` was made of other queries.
    """
    axis.require_list(judgments)
    axis.require_run(run, run_number)
    given = run.given
    if given is None:
        return CrossCheck(0, (), "the file holds no scores")
    if given.metric not in _OURS:
        what = "does not name its metric" if given.metric is None else f"holds {given.metric}"
        return CrossCheck(0, (), f"the file {what}, so its scores were not recomputed")
    queries = _scored_in_file(judgments, run, axis, run_number)
    full = [query for query in queries if query.docs is not None]
    mismatches = _check_queries(full, given, scores)
    if len(full) < len(queries):
        bare = len(queries) - len(full)
        note = f"{bare} of {len(queries)} scores in the file come without hits: not recomputed"
        return CrossCheck(len(full), mismatches, note)
    if given.metric_score is None:
        return CrossCheck(len(full), mismatches, "the file holds no aggregate")
    total = _check_aggregate(queries, given, scores, len(mismatches))
    return CrossCheck(len(full) + 1, mismatches if total is None else (*mismatches, total))


def _scored_in_file(
    judgments: JudgmentList, run: Run, axis: Axis, run_number: int
) -> list[_Scored]:
    own: Mapping[str, GivenQuery] = {} if run.given is None else run.given.queries
    grades = judgments.grades_by_query()
    found: list[_Scored] = []
    places: list[tuple[int, int]] = list(
        zip(axis.run_index[run_number].tolist(), axis.list_index.tolist(), strict=True)
    )
    for place, (at, listed) in enumerate(places):
        query = own.get(run.queries[at].id) if at >= 0 else None
        if query is None or query.metric_score is None:
            continue
        found.append(
            _Scored(
                place=place,
                score=query.metric_score,
                docs=run.docs[at],
                theirs={match_key(doc): r for doc, r in (query.ratings or {}).items()},
                known=dict(grades[listed]) if listed >= 0 else {},
            )
        )
    return found


def _check_queries(
    queries: Sequence[_Scored], given: GivenScores, scores: RunScores
) -> tuple[Mismatch, ...]:
    """The scores that are not ours, by the way of the file that leaves the fewest unexplained."""
    metric = given.metric or ""
    differing = [
        (query, ours)
        for query in queries
        if not abs(query.score - (ours := _ours(query, metric, scores))) <= _TOLERANCE
    ]
    used = {r for query, _ in differing for r in (*query.known.values(), *query.theirs.values())}
    fewest: tuple[Mismatch, ...] | None = None
    for ways in possible_ways(metric, used):
        found = tuple(
            Mismatch(
                scores.queries[query.place],
                query.score,
                ours,
                _explain(query, given, scores.conventions, ways) or UNEXPLAINED,
            )
            for query, ours in differing
        )
        if fewest is None or _unexplained(found) < _unexplained(fewest):
            fewest = found
        if not _unexplained(fewest):
            break
    return fewest or ()


def _ours(query: _Scored, metric: str, scores: RunScores) -> float:
    return float(scores.values[_OURS[metric]][query.place])


def _unexplained(found: Sequence[Mismatch]) -> int:
    return sum(not mismatch.explained for mismatch in found)


def _explain(
    query: _Scored, given: GivenScores, conventions: Conventions, ways: Ways
) -> str | None:
    """How the engine came to its score, first with our grades, then with its own ratings."""
    if not isfinite(query.score):
        return None
    hits = [match_key(doc) for doc in query.docs or ()][: given.k]
    depth = [f"its k is {given.k}, not {conventions.k}"] if given.k else []
    depth = depth if given.k != conventions.k else []
    absent = [] if query.known else ["the judgment list has no grade for this query"]
    causes = _causes(query, query.known, given, conventions, ways)
    if causes is not None and depth + causes + absent:
        return "the engine's way: " + "; ".join(depth + causes + absent)
    others = {doc: grade for doc, grade in query.known.items() if doc not in hits}
    causes = _causes(query, others | dict(query.theirs), given, conventions, ways)
    differ = sum(query.theirs.get(doc) != query.known.get(doc) for doc in hits)
    if causes is None or not differ:
        return None
    rated = f"the file rates {differ} of {len(hits)} hits otherwise than the judgment list"
    return "; ".join([rated, *depth, *causes, *absent])


def _causes(
    query: _Scored,
    grades: Mapping[str, float],
    given: GivenScores,
    conventions: Conventions,
    ways: Ways,
) -> list[str] | None:
    hits = [grades.get(match_key(doc)) for doc in query.docs or ()][: given.k]
    seen = Seen(hits, list(grades.values()), given.normalized, given.k, ways)
    for reading in READINGS[given.metric or ""](seen, conventions):
        if abs(reading.value - query.score) <= _TOLERANCE:
            return reading.causes
    return None


def _check_aggregate(
    queries: Sequence[_Scored], given: GivenScores, scores: RunScores, differing: int
) -> Mismatch | None:
    """Ours and the engine's mean differ in the queries they are over, and in those queries."""
    total = float("nan") if given.metric_score is None else given.metric_score
    metric = _OURS[given.metric or ""]
    ours = scores.mean(metric)
    if abs(total - ours.value) <= _TOLERANCE:
        return None
    mean = fsum(query.score for query in queries) / len(queries) if queries else float("nan")
    if not abs(mean - total) <= _TOLERANCE:
        why = f"{UNEXPLAINED}: it is not the mean of the file's own {len(queries)} scores"
        return Mismatch(None, total, ours.value, why)
    theirs = np.zeros(len(scores.queries), np.bool_)
    theirs[[query.place for query in queries]] = True
    in_ours = scores.counted(metric)
    left_out = int((in_ours & scores.failed).sum())
    absent = int((in_ours & ~theirs & ~scores.failed).sum())
    causes = [
        (left_out, "failed query is left", "failed queries are left", "out of its mean"),
        (absent, "judged query is not", "judged queries are not", "in the file"),
        (
            int((theirs & ~in_ours).sum()),
            "query apart here is",
            "queries apart here are",
            "in its mean",
        ),
        (differing, "query has another score,", "queries have other scores,", "see there"),
    ]
    named = [f"{counted(n, one, many)} {rest}" for n, one, many, rest in causes if n]
    why = "the engine's way: " + "; ".join(named) if named else UNEXPLAINED
    return Mismatch(None, total, ours.value, why)
