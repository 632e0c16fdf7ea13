"""How far a judgment list covers what its runs returned. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from relgate.eval.lists.pairs import PairIndex, Pairs
from relgate.eval.lists.types import JudgmentList, Query
from relgate.eval.metrics.align import Axis
from relgate.eval.metrics.join import Retrieved
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

    def __add__(self, other: Overlap) -> Overlap:
        """That of both parts together; they share no query."""
        return Overlap(
            k=self.k,
            run_queries=self.run_queries + other.run_queries,
            judged_queries=self.judged_queries + other.judged_queries,
            retrieved=self.retrieved + other.retrieved,
            judged=self.judged + other.judged,
            any_judged=self.any_judged or other.any_judged,
            judged_examples=_first(self.judged_examples + other.judged_examples),
            retrieved_examples=_first(self.retrieved_examples + other.retrieved_examples),
            listed_queries=_first(self.listed_queries + other.listed_queries),
            asked_queries=_first(self.asked_queries + other.asked_queries),
        )


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
    known = np.append(np.bincount(judgments.query, minlength=len(judgments.queries)) > 0, False)
    in_run = np.zeros(len(axis), np.bool_)
    retrieved = judged = 0
    any_judged = False
    before: list[PairIndex] = []
    for run, index in zip(runs, axis.run_index, strict=True):
        in_run |= index >= 0
        top = _results(run, index, k)
        own = PairIndex(top.query.astype(np.int32), top.keys, len(axis))
        new = own.find(top) == top.rows
        for other in before:
            new &= other.find(top) < 0
        rated = _rated(judgments, axis, top)
        retrieved += int(new.sum())
        judged += int((new & rated).sum())
        any_judged = any_judged or bool(rated.any()) or _any_below(judgments, axis, run, index)
        before.append(own)
    return Overlap(
        k=k,
        run_queries=int(in_run.sum()),
        judged_queries=int((known[axis.list_index] & in_run).sum()),
        retrieved=retrieved,
        judged=judged,
        any_judged=any_judged,
        judged_examples=_first(judgments.doc_id),
        retrieved_examples=_first(doc for run in runs for docs in run.docs for doc in docs or ()),
        listed_queries=_first(map(_called, judgments.queries)),
        asked_queries=_first(_called(query) for run in runs for query in run.queries),
    )


def _results(run: Run, index: NDArray[np.int64], k: int | None) -> Pairs:
    """The first k documents of each query, all for None, with the number of its query."""
    ranking = run.ranking
    counts = np.maximum(np.append(ranking.counts, 0)[index], 0)
    counts = counts if k is None else np.minimum(counts, k)
    rows = Retrieved(ranking.ids, np.append(ranking.starts, 0)[index], counts).rows()
    keys = ranking.ids.take(rows).keys()
    own = np.arange(len(rows))
    return Pairs(keys, own, keys.hashes(own), np.repeat(np.arange(len(index)), counts))


def _rated(judgments: JudgmentList, axis: Axis, pairs: Pairs) -> NDArray[np.bool_]:
    listed = replace(pairs, query=axis.list_index[pairs.query])
    return judgments.pairs.find(listed) >= 0


def _any_below(judgments: JudgmentList, axis: Axis, run: Run, index: NDArray[np.int64]) -> bool:
    """Whether a document at any depth is judged: looked at only where none within k is."""
    return bool(_rated(judgments, axis, _results(run, index, None)).any())


def _called(query: Query) -> str:
    """A query's id, and its text where that says more."""
    known = query.text is not None and query.text != query.id
    return f"{query.id!r} ({query.text!r})" if known else repr(query.id)


def _first(ids: Iterable[str]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for one in ids:
        found.setdefault(one)
        if len(found) == _EXAMPLES:
            break
    return tuple(found)


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
