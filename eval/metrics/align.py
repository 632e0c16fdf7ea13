"""The queries that a judgment list and its runs share, on one axis. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from relgate.eval.lists.ids import in_nfc
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
        texts = [query.text for query in queries]
        if self.texts:
            known = map(self.texts.get, keys)
            texts = [b if a is None else a for a, b in zip(texts, known, strict=True)]
        index = list(map(self.by_id.get, keys, repeat(-1)))
        if not self.by_text and texts.count(None) == len(texts):
            return self._meet_by_id(queries, keys, index)
        self._know_texts()
        self._check_texts(queries, texts, index, side)
        text_keys = [k if t is None else match_key(t) for k, t in zip(keys, texts, strict=True)]
        self._meet_by_text(queries, text_keys, index, side)
        self._check_one_to_one(queries, index, side)
        for i, (query, text) in enumerate(zip(queries, texts, strict=True)):
            index[i] = self._learn(query, text, index[i])
        for axis, key, text_key in zip(index, keys, text_keys, strict=True):
            self.by_id.setdefault(key, axis)
            known_axes = self.by_text.setdefault(text_key, [axis])
            if axis not in known_axes:
                known_axes.append(axis)
        return index

    def _meet_by_id(
        self, queries: Sequence[Query], keys: Sequence[str], index: list[int]
    ) -> list[int]:
        """Where nobody has a text so far: each id is one query, so nothing else can meet."""
        new = [i for i, axis in enumerate(index) if axis < 0]
        for axis, i in enumerate(new, start=len(self.queries)):
            index[i] = self.by_id[keys[i]] = axis
        self.queries.extend([queries[i] for i in new])
        return index

    def _know_texts(self) -> None:
        """Now a side has texts: an id without one stands for its text."""
        if not self.by_text:
            self.by_text = {key: [axis] for key, axis in self.by_id.items()}

    def _meet_by_text(
        self, queries: Sequence[Query], text_keys: Sequence[str], index: list[int], side: str
    ) -> None:
        """Fills in the index of queries that no id met."""
        met_by_id = {axis for axis in index if axis >= 0}
        left = [i for i, axis in enumerate(index) if axis < 0 and text_keys[i] in self.by_text]
        for i in left:
            found = [axis for axis in self.by_text[text_keys[i]] if axis not in met_by_id]
            if len(found) > 1:
                ids = " and ".join(repr(self.queries[axis].id) for axis in found)
                raise InputError(
                    f"query {queries[i].shown!r} of {side} has the text of queries {ids}",
                    mend=_SAME_IDS,
                )
            index[i] = found[0] if found else -1

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

    def _check_texts(
        self, queries: Sequence[Query], texts: Sequence[str | None], index: list[int], side: str
    ) -> None:
        """Ids that meet while their texts differ: renumbered ids are an error, else a warning.

        A text that is the id itself (a file keyed by its query column, which holds ids) is none.
        """
        unlike: list[str] = []
        for query, new, axis in zip(queries, texts, index, strict=True):
            old = self.queries[axis].text if axis >= 0 else None
            if old is None or new is None or old == new or _loose(old) == _loose(new):
                continue
            what = f"query id {query.id!r} is {old!r} elsewhere and {new!r} in {side}"
            if any(other != axis for other in self.by_text.get(match_key(new), ())):
                raise InputError(what, mend=f"the ids were renumbered: {_SAME_IDS}")
            if not (Query(query.id, new).is_bare or self.queries[axis].is_bare):
                unlike.append(what)
        if unlike:
            more = f", and {len(unlike) - 1} more differ" if len(unlike) > 1 else ""
            self.warnings.append(unlike[0] + more)

    def _learn(self, query: Query, text: str | None, axis: int) -> int:
        if axis < 0:
            self.queries.append(query if query.text == text else Query(query.id, text))
            return len(self.queries) - 1
        known = self.queries[axis]
        if text is not None and known.is_bare:
            self.queries[axis] = Query(known.id, text)
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
    ids = [query.id for query in queries]
    keys = ids if in_nfc(ids) else list(map(match_key, ids))
    if len(set(keys)) < len(keys):
        twice = next(key for key, n in Counter(keys).items() if n > 1)
        raise InputError(
            f"query id {twice!r} stands more than once in {side}",
            mend="give each query its own id",
        )
    return keys


def _inverse(places: Sequence[int], n: int) -> NDArray[np.int64]:
    out = np.full(n, -1, np.int64)
    out[np.asarray(places, np.int64)] = np.arange(len(places))
    return out


def _loose(text: str) -> str:
    return " ".join(match_key(text).casefold().split())
