"""The queries of a review as its scores see them: what is rated, what came back. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from relgate.eval.lists.types import JudgmentList, Query, match_key
from relgate.eval.metrics.align import Axis
from relgate.eval.runs.types import Run

__all__ = ["SeenQuery", "seen_queries"]


@dataclass(frozen=True, slots=True)
class SeenQuery:
    """One query.

    Attributes:
        query: the list's own where it has it, with the best text known.
        listed: its index in the list, or -1.
        grades: {match key of a document: grade}.
        before: the documents before, best first.
        after: likewise after.
    """

    query: Query
    listed: int
    grades: dict[str, int]
    before: tuple[str, ...]
    after: tuple[str, ...]


def seen_queries(judgments: JudgmentList, runs: Sequence[Run], axis: Axis) -> list[SeenQuery]:
    """The queries that a run has, in the axis' order.

    Args:
        judgments: the list that `axis` was made of.
        runs: before and after.
        axis: of these.
    """
    rated = judgments.grades_by_query()
    out: list[SeenQuery] = []
    places: list[int] = axis.list_index.tolist()
    for at, (query, listed) in enumerate(zip(axis.queries, places, strict=True)):
        found = [int(index[at]) for index in axis.run_index]
        if max(found) < 0:
            continue
        own = judgments.queries[listed] if listed >= 0 else query
        before, after = (_docs(run, i) for run, i in zip(runs, found, strict=True))
        out.append(
            SeenQuery(
                query=Query(own.id, own.text if own.text is not None else query.text),
                listed=listed,
                grades=dict(rated[listed]) if listed >= 0 else {},
                before=before,
                after=after,
            )
        )
    return out


def _docs(run: Run, index: int) -> tuple[str, ...]:
    """What the scores look at: nothing of a query that failed or is missing."""
    if index < 0:
        return ()
    failures = {match_key(query_id) for query_id in run.failures}
    return () if match_key(run.queries[index].id) in failures else run.docs[index] or ()
