"""The queries that a judgment list and its runs share, on one axis. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from relgate.eval.lists.types import JudgmentList, Query, match_key
from relgate.eval.runs.types import Run
from relgate.rubrics.errors import InputError, UsageError

__all__ = ["Axis", "align"]

_SAME_IDS = "give the list and all runs the same query ids"


@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """The queries of all runs and of the list, once each.

    Attributes:
        queries: a run's id with the best text known; runs' order, then list-only queries.
        list_index: per query, its index in the list's `queries`, -1 when it is not there.
        run_index: per run and query, its index in the run's `queries`, -1 when it is not there.
        list_queries: the queries of the list it was made of.
        run_queries: the queries of each run it was made of.
        warnings: ids that met although their texts differ.
    """

    queries: tuple[Query, ...]
    list_index: NDArray[np.int64]
    run_index: tuple[NDArray[np.int64], ...]
    list_queries: tuple[Query, ...]
    run_queries: tuple[tuple[Query, ...], ...]
    warnings: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.queries)

    def require_list(self, judgments: JudgmentList) -> None:
        """Refuses a list with other queries, or another order of them.

        Raises:
            UsageError: this axis was not made of such a list.
        """
        if judgments.queries != self.list_queries:
            raise UsageError("the judgment list has other queries than its axis; align it anew")

    def require_run(self, run: Run, run_number: int) -> None:
        """Refuses a run with other queries, or another order of them.

        Raises:
            UsageError: this axis was not made of such a run in that place.
        """
        if not 0 <= run_number < len(self.run_queries):
            raise UsageError(f"the axis has no run {run_number}; it has {len(self.run_queries)}")
        if run.queries != self.run_queries[run_number]:
            raise UsageError(f"run {run.name!r} has other queries than its axis; align it anew")


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
        list_queries=judgments.queries,
        run_queries=tuple(run.queries for run in runs),
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
