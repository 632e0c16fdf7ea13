"""How far a judgment list covers what its runs returned. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from relgate.eval.lists.types import JudgmentList, Query, match_key
from relgate.eval.metrics.align import Axis
from relgate.eval.runs.types import Run
from relgate.rubrics.errors import InputError

__all__ = ["Overlap", "overlap", "require_overlap"]

_LOW_OVERLAP = 0.2
_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class Overlap:
    """How far a judgment list covers what its runs returned.

    Attributes:
        k: the depth looked at.
        run_queries: queries that any run has.
        judged_queries: those of them with at least one judgment.
        retrieved: distinct (query, document) pairs within k, over all runs.
        judged: those of them that are judged.
        any_judged: whether a judged document occurs in the results of its own query, at any depth.
        judged_examples: up to three judged document ids.
        retrieved_examples: up to three document ids from the runs.
        listed_queries: up to three queries of the list, as files call them.
        asked_queries: up to three queries of the runs.
    """

    k: int
    run_queries: int
    judged_queries: int
    retrieved: int
    judged: int
    any_judged: bool
    judged_examples: tuple[str, ...]
    retrieved_examples: tuple[str, ...]
    listed_queries: tuple[str, ...]
    asked_queries: tuple[str, ...]

    @property
    def share(self) -> float:
        """Judged share of the pairs within k, 0..1; NaN when no run lists a document."""
        return self.judged / self.retrieved if self.retrieved else float("nan")


def overlap(judgments: JudgmentList, runs: Sequence[Run], axis: Axis, *, k: int = 10) -> Overlap:
    """Counts the runs' queries and top-k documents that the list judges.

    Args:
        judgments: the list that `axis` was made of.
        runs: the runs that `axis` was made of.
        axis: from `align`.
        k: the depth of the counts; whether anything is judged at all is asked at full depth.

    Raises:
        UsageError: `axis` was made of other queries.
    """
    axis.require_list(judgments)
    for number, run in enumerate(runs):
        axis.require_run(run, number)
    grades = judgments.grades_by_query()
    retrieved = judged = run_queries = judged_queries = 0
    any_judged = False
    in_list: list[int] = axis.list_index.tolist()
    for at, listed in enumerate(in_list):
        known = grades[listed].keys() if listed >= 0 else frozenset[str]()
        lists = list(_results(runs, axis, at))
        in_run = any(int(index[at]) >= 0 for index in axis.run_index)
        run_queries += in_run
        judged_queries += in_run and bool(known)
        top = {match_key(doc) for docs in lists for doc in docs[:k]}
        retrieved += len(top)
        judged += len(top & known)
        any_judged = any_judged or any(match_key(doc) in known for docs in lists for doc in docs)
    return Overlap(
        k=k,
        run_queries=run_queries,
        judged_queries=judged_queries,
        retrieved=retrieved,
        judged=judged,
        any_judged=any_judged,
        judged_examples=_first(judgments.doc_id),
        retrieved_examples=_first(doc for run in runs for docs in run.docs for doc in docs or ()),
        listed_queries=_first(map(_called, judgments.queries)),
        asked_queries=_first(_called(query) for run in runs for query in run.queries),
    )


def _results(runs: Sequence[Run], axis: Axis, at: int) -> Iterator[tuple[str, ...]]:
    for run, index in zip(runs, axis.run_index, strict=True):
        docs = run.docs[int(index[at])] if index[at] >= 0 else None
        if docs is not None:
            yield docs


def _called(query: Query) -> str:
    """A query's id, and its text where that says more."""
    known = query.text is not None and query.text != query.id
    return f"{query.id!r} ({query.text!r})" if known else repr(query.id)


def _first(ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(islice(dict.fromkeys(ids), _EXAMPLES))


def require_overlap(found: Overlap) -> str | None:
    """Refuses a list that has nothing to do with the runs; returns a warning when it has little.

    Returns:
        A warning when less than 20 % of the retrieved documents are judged, or when the runs list
        no document so that nothing could be compared; else None.

    Raises:
        InputError: no judged document occurs in the results of its query.
    """
    if not found.retrieved:
        return "the runs list no documents, so their overlap with the judgment list is unknown"
    if not found.any_judged:
        if not found.judged_queries:
            raise InputError(
                "no query of the runs is in the judgment list: the list has "
                f"{_shown(found.listed_queries)}, the runs {_shown(found.asked_queries)}",
                mend="use the list that was made for these queries, or say with --queries which "
                "id has which text",
            )
        raise InputError(
            "no judged id occurs in any result: judged "
            f"{_shown(map(repr, found.judged_examples))}, "
            f"returned {_shown(map(repr, found.retrieved_examples))}",
            mend="use the list that was made on this index, or map the ids",
        )
    if found.share < _LOW_OVERLAP:
        return (
            f"only {found.share:.0%} of the top {found.k} documents are judged "
            f"({found.judged} of {found.retrieved})"
        )
    return None


def _shown(names: Iterable[str]) -> str:
    return ", ".join(names) or "nothing"
