"""The queries that a judgment list and its runs share, on one axis, and how far they meet. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from relgate.eval.lists.types import JudgmentList, Query, match_key
from relgate.eval.runs.types import Run
from relgate.rubrics.errors import InputError

__all__ = ["Axis", "Overlap", "align", "overlap", "require_overlap"]

_LOW_OVERLAP = 0.2
_EXAMPLES = 3
_SAME_IDS = "give the list and all runs the same query ids"


@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """The queries of all runs and of the list, once each.

    Attributes:
        queries: a run's id with the best text known; runs' order, then list-only queries.
        list_index: per query, its index in the list's `queries`, -1 when it is not there.
        run_index: per run and query, its index in the run's `queries`, -1 when it is not there.
        warnings: ids that met although their texts differ.
    """

    queries: tuple[Query, ...]
    list_index: NDArray[np.int64]
    run_index: tuple[NDArray[np.int64], ...]
    warnings: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.queries)


@dataclass(slots=True)
class _Matcher:
    """Grows the axis one side at a time."""

    texts: Mapping[str, str]
    queries: list[Query] = field(default_factory=list[Query])
    by_id: dict[str, int] = field(default_factory=dict[str, int])
    by_text: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    warnings: list[str] = field(default_factory=list[str])

    def add_side(self, queries: Sequence[Query], side: str) -> list[int]:
        """The axis index of each query of one side; new ones are appended."""
        keys = _distinct_ids(queries, side)
        index = [self.by_id.get(key, -1) for key in keys]
        self._check_texts(queries, index, side)
        met_by_id = {axis for axis in index if axis >= 0}
        for i, query in enumerate(queries):
            if index[i] < 0:
                index[i] = self._meet_by_text(query, met_by_id, side)
        self._check_one_to_one(queries, index, side)
        for i, query in enumerate(queries):
            index[i] = self._learn(query, index[i])
        return index

    def _text(self, query: Query) -> str | None:
        return query.text if query.text is not None else self.texts.get(match_key(query.id))

    def _text_key(self, query: Query) -> str:
        text = self._text(query)
        return match_key(query.id if text is None else text)

    def _meet_by_text(self, query: Query, met_by_id: set[int], side: str) -> int:
        found = [a for a in self.by_text.get(self._text_key(query), ()) if a not in met_by_id]
        if len(found) > 1:
            ids = " and ".join(repr(self.queries[axis].id) for axis in found)
            raise InputError(
                f"query {query.shown!r} of {side} has the text of queries {ids}", mend=_SAME_IDS
            )
        return found[0] if found else -1

    def _check_one_to_one(self, queries: Sequence[Query], index: list[int], side: str) -> None:
        first: dict[int, Query] = {}
        for query, axis in zip(queries, index, strict=True):
            if axis >= 0 and axis in first:
                raise InputError(
                    f"queries {first[axis].id!r} and {query.id!r} of {side} both match query "
                    f"{self.queries[axis].shown!r}",
                    mend=_SAME_IDS,
                )
            first[axis] = query

    def _check_texts(self, queries: Sequence[Query], index: list[int], side: str) -> None:
        """Ids that meet while their texts differ: renumbered ids are an error, else a warning."""
        for query, axis in zip(queries, index, strict=True):
            old, new = (self._text(self.queries[axis]) if axis >= 0 else None), self._text(query)
            if old is None or new is None or _loose(old) == _loose(new):
                continue
            what = f"query id {query.id!r} is {old!r} elsewhere and {new!r} in {side}"
            if match_key(new) in self.by_text:
                raise InputError(what, mend=f"the ids were renumbered: {_SAME_IDS}")
            self.warnings.append(what)

    def _learn(self, query: Query, axis: int) -> int:
        text = self._text(query)
        if axis < 0:
            axis = len(self.queries)
            self.queries.append(Query(query.id, text))
        elif self.queries[axis].text is None and text is not None:
            self.queries[axis] = Query(self.queries[axis].id, text)
        self.by_id.setdefault(match_key(query.id), axis)
        known = self.by_text.setdefault(self._text_key(query), [])
        if axis not in known:
            known.append(axis)
        return axis


def align(
    judgments: JudgmentList, runs: Sequence[Run], texts: Mapping[str, str] | None = None
) -> Axis:
    """Puts the queries of a list and its runs on one axis.

    Queries meet by id first; those left over meet by text, where an id stands for the text of a
    query that has none. Ids and texts are compared by `match_key`.

    Args:
        judgments: the judgment list.
        runs: the runs; their order is the axis's order.
        texts: {query id: text} for files that give no texts.

    Raises:
        InputError: one id twice in a run, two queries that match one, or ids that were renumbered.
    """
    matcher = _Matcher({match_key(key): text for key, text in (texts or {}).items()})
    sides = [matcher.add_side(run.queries, f"run {run.name!r}") for run in runs]
    listed = matcher.add_side(judgments.queries, "the judgment list")
    n = len(matcher.queries)
    return Axis(
        queries=tuple(matcher.queries),
        list_index=_inverse(listed, n),
        run_index=tuple(_inverse(side, n) for side in sides),
        warnings=tuple(matcher.warnings),
    )


def _distinct_ids(queries: Sequence[Query], side: str) -> list[str]:
    keys = [match_key(query.id) for query in queries]
    twice = [key for key, n in Counter(keys).items() if n > 1]
    if twice:
        raise InputError(
            f"query id {twice[0]!r} stands more than once in {side}",
            mend="give each query its own id",
        )
    return keys


def _inverse(places: Sequence[int], n: int) -> NDArray[np.int64]:
    out = np.full(n, -1, np.int64)
    out[np.asarray(places, np.int64)] = np.arange(len(places))
    return out


def _loose(text: str) -> str:
    return " ".join(match_key(text).casefold().split())


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
    """

    k: int
    run_queries: int
    judged_queries: int
    retrieved: int
    judged: int
    any_judged: bool
    judged_examples: tuple[str, ...]
    retrieved_examples: tuple[str, ...]

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
    """
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
    )


def _results(runs: Sequence[Run], axis: Axis, at: int) -> Iterator[tuple[str, ...]]:
    for run, index in zip(runs, axis.run_index, strict=True):
        docs = run.docs[int(index[at])] if index[at] >= 0 else None
        if docs is not None:
            yield docs


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
        what = (
            "no judged id occurs in any result"
            if found.judged_queries
            else "no query of the runs is in the judgment list"
        )
        raise InputError(
            f"{what}: judged {_shown(found.judged_examples)}, "
            f"returned {_shown(found.retrieved_examples)}",
            mend="use the list that was made on this index, or map the ids",
        )
    if found.share < _LOW_OVERLAP:
        return (
            f"only {found.share:.0%} of the top {found.k} documents are judged "
            f"({found.judged} of {found.retrieved})"
        )
    return None


def _shown(ids: Sequence[str]) -> str:
    return ", ".join(repr(i) for i in ids) or "nothing"
