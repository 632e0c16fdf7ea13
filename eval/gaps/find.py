"""Finds the documents that nobody rated, among what the runs returned. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from relgate.eval.lists.types import JudgmentList, Query, match_key
from relgate.eval.metrics.align import Axis
from relgate.eval.runs.types import Run

__all__ = ["QueryGaps", "find_gaps"]


@dataclass(frozen=True, slots=True)
class QueryGaps:
    """The unrated documents of one query.

    Attributes:
        query: the list's own query where it has it, so that a fill lands there; with the best
            text known. Without one, its id is what a judge would see.
        doc_ids: in order of first appearance, over all runs.
        returned: distinct documents that the runs are known to have returned within the depth.
    """

    query: Query
    doc_ids: tuple[str, ...]
    returned: int


def find_gaps(
    judgments: JudgmentList, runs: Sequence[Run], axis: Axis, *, depth: int | None
) -> list[QueryGaps]:
    """Unrated documents by query; queries without any are left out.

    Where a file gives no hits for a query, what it names as unrated is all that is known.

    Args:
        judgments: the list that `axis` was made with.
        runs: the runs that `axis` was made with.
        axis: from `align`.
        depth: how deep to look on each side; None looks at whole runs.
    """
    rated = judgments.grades_by_query()
    out: list[QueryGaps] = []
    places: list[int] = axis.list_index.tolist()
    for at, (query, listed) in enumerate(zip(axis.queries, places, strict=True)):
        known = rated[listed] if listed >= 0 else {}
        returned: dict[str, str] = {}
        for run, index in zip(runs, axis.run_index, strict=True):
            docs = _known_documents(run, int(index[at])) if index[at] >= 0 else ()
            for doc in docs[:depth]:
                returned.setdefault(match_key(doc), doc)
        unrated = tuple(doc for key, doc in returned.items() if key not in known)
        if unrated:
            own = judgments.queries[listed] if listed >= 0 else query
            out.append(
                QueryGaps(
                    query=Query(own.id, query.text if own.is_bare and query.text else own.text),
                    doc_ids=unrated,
                    returned=len(returned),
                )
            )
    return out


def _known_documents(run: Run, index: int) -> tuple[str, ...]:
    docs = run.docs[index]
    if docs is not None or run.given is None:
        return docs or ()
    given = run.given.queries.get(run.queries[index].id)
    return () if given is None else given.unrated or ()
