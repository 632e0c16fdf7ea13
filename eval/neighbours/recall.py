"""Recall@k of what a search returned, against the exact neighbours. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from relgate.eval.lists.types import Query, match_key
from relgate.eval.neighbours.exact import TIE
from relgate.eval.runs.types import GivenQuery, GivenScores, Run
from relgate.rubrics.errors import InputError

__all__ = ["ExactLists", "recall_at_k", "recall_run"]

_LOST = "the file of neighbours does not have this query"


@dataclass(frozen=True, slots=True)
class ExactLists:
    """The exact neighbours of queries, as a file gives them.

    Attributes:
        queries: the queries, in file order.
        docs: per query, document ids, nearest first; those that tie with the k-th may follow.
        scores: per query the score of each, falling; None where the file has no scores: then the
            order alone says which are the first k.
        sha256: of the file.
        path: the file.
    """

    queries: tuple[Query, ...]
    docs: tuple[tuple[str, ...], ...]
    scores: tuple[tuple[float, ...] | None, ...]
    sha256: str
    path: str | None = None

    def right(self, at: int, k: int) -> frozenset[str]:
        """Match keys of the documents that count as the k nearest of a query, ties included."""
        docs, scores = self.docs[at], self.scores[at]
        if scores is None or len(docs) <= k:
            return frozenset(match_key(doc) for doc in docs[:k])
        least = scores[k - 1] - TIE * max(1.0, abs(scores[k - 1]))
        near = (doc for doc, score in zip(docs, scores, strict=True) if score >= least)
        return frozenset(match_key(doc) for doc in near)


def recall_at_k(returned: Sequence[str], right: frozenset[str], *, k: int) -> float:
    """Share of the k nearest that a search found, 0..1.

    Args:
        returned: ids as the search returned them, best first; a repeat counts once.
        right: match keys of the k nearest, with all that tie with the k-th: any of them will do.
        k: depth. With fewer neighbours than k in all, the share is of those.
    """
    first = list(dict.fromkeys(match_key(doc) for doc in returned))[:k]
    return sum(doc in right for doc in first) / min(k, len(right))


def recall_run(run: Run, exact: ExactLists, k: int) -> Run:
    """The run of the queries that have exact neighbours, with its recall@k as its scores.

    A query with exact neighbours that the run lacks has failed. One of the run without exact
    neighbours (they may be a sample) is left out, and that is noted.

    Raises:
        InputError: fewer than k neighbours where there are more, documents that the run does not
            list, or no query in common.
    """
    at = {match_key(q.id): i for i, q in enumerate(run.queries)}
    found: dict[str, GivenQuery] = {}
    docs: list[tuple[str, ...] | None] = []
    failures: dict[str, str] = {}
    for i, query in enumerate(exact.queries):
        place = at.get(match_key(query.id))
        listed = None if place is None else run.docs[place]
        why = _LOST if place is None else run.failures.get(run.queries[place].id)
        if why is not None:
            failures[query.id] = why
        elif listed is None:
            raise InputError(
                f"no documents of {query.shown!r} are listed",
                path=run.path,
                mend="give the ids that came back",
            )
        else:
            score = recall_at_k(listed, exact.right(i, k), k=k)
            found[query.id] = GivenQuery(score, None)
        docs.append(listed)
    if not found:
        raise InputError(
            "none of its queries has exact neighbours", path=run.path, mend="use the same query ids"
        )
    return replace(
        run,
        queries=exact.queries,
        docs=tuple(docs),
        failures=failures,
        given=_given(found, k),
        format="recall-report",
        notes=(*run.notes, *_left_out(run, exact)),
    )


def _given(found: Mapping[str, GivenQuery], k: int) -> GivenScores:
    scores = [query.metric_score or 0.0 for query in found.values()]
    return GivenScores("recall", k, None, sum(scores) / len(scores), found)


def _left_out(run: Run, exact: ExactLists) -> list[str]:
    known = {match_key(q.id) for q in exact.queries}
    out = sum(match_key(q.id) not in known for q in run.queries)
    if not out:
        return []
    return [f"{out} of its {len(run.queries)} queries have no exact neighbours, and are left out"]
