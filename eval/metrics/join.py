"""Runs meet the judgment list: the grade of every document at every rank. Pure.

Documents and judgments are joined inside their query by `JudgmentList.find`; no text is made.
Everything goes in blocks of queries, so that what a block needs stays in the processor's cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relgate.eval.lists.ids import Ids, Rows
from relgate.eval.lists.pairs import Pairs
from relgate.eval.lists.types import JudgmentList
from relgate.eval.metrics import kernel
from relgate.eval.metrics.conventions import Conventions

__all__ = ["Found", "Retrieved", "join"]

_BLOCK_ROWS = 1 << 16
_SPREAD = np.uint64(0xD6E8FEB86659FD93)  # odd: no two queries of a block get one value

_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The grades of a run, see `kernel`.

    Attributes:
        top: what came back within k; shape (nq, w), w <= k.
        scored: what the metrics look at: the same, or without what nobody rated.
    """

    top: NDArray[np.int16]
    scored: NDArray[np.int16]


@dataclass(frozen=True, slots=True, eq=False)
class Retrieved:
    """What a run returned for each query of an axis.

    Attributes:
        ids: all documents of the run.
        starts: per query, where its documents begin; shape (nq,).
        counts: per query, how many it has, 0 and up; shape (nq,).
    """

    ids: Ids
    starts: _Ints
    counts: _Ints


@dataclass(frozen=True, slots=True, eq=False)
class _Docs:
    """Documents of a block of queries, each query's in its order.

    Attributes:
        q: the number of each one's query in the block; shape (n,).
        pairs: what to look for in the list; shape (n,).
        grades: what was found, see `kernel`; shape (n,).
    """

    q: _Ints
    pairs: Pairs
    grades: NDArray[np.int16]

    def only(self, which: Rows) -> _Docs:
        return _Docs(self.q[which], self.pairs.only(which), self.grades[which])


def join(
    judgments: JudgmentList, listed: _Ints, retrieved: Retrieved, conventions: Conventions
) -> Found:
    """The grades of what a run returned.

    Args:
        judgments: the list.
        listed: per query of the axis, its index in the list's `queries`, or -1; shape (nq,).
        retrieved: the run's documents.
        conventions: the depth, and what becomes of unrated documents.
    """
    counts, unrated = retrieved.counts, conventions.unrated
    width = min(conventions.k, int(counts.max(initial=0)))
    cut = np.minimum(counts, width)
    looked_at = counts if unrated == "condensed" else cut
    top = np.full((len(counts), width), kernel.NO_DOCUMENT, np.int16)
    scored = top if unrated == "zero" else top.copy()
    keys = retrieved.ids.keys()
    for part in _blocks(looked_at):
        block = Retrieved(keys, retrieved.starts[part], cut[part])
        docs = _docs(judgments, listed[part], block)
        _fill(top[part], docs)
        if unrated == "zero":
            continue
        if unrated == "condensed":
            block = Retrieved(keys, retrieved.starts[part], counts[part])
            docs = _docs(judgments, listed[part], block)
        rated = np.flatnonzero(docs.grades >= 0)
        rated = rated[_ranks(docs.q[rated]) < width]
        _fill(scored[part], docs.only(rated))
    return Found(top, scored)


def _blocks(counts: _Ints) -> Iterator[slice]:
    """Stretches of queries that have about `_BLOCK_ROWS` documents each."""
    ends = np.cumsum(counts)
    start = done = 0
    while start < len(counts):
        stop = max(start + 1, int(np.searchsorted(ends, done + _BLOCK_ROWS, side="right")))
        yield slice(start, stop)
        start, done = stop, int(ends[stop - 1])


def _docs(judgments: JudgmentList, listed: _Ints, block: Retrieved) -> _Docs:
    keys, counts = block.ids, block.counts
    q = np.repeat(np.arange(len(counts)), counts)
    rows = np.arange(len(q)) + np.repeat(block.starts - np.cumsum(counts) + counts, counts)
    pairs = Pairs(keys, rows, keys.hashes(rows), np.repeat(listed, counts))
    grade = np.append(judgments.grade, np.int16(kernel.UNRATED))  # -1, not found, meets the end
    return _Docs(q, pairs, grade[judgments.pairs.find(pairs)])


def _ranks(q: _Ints) -> _Ints:
    """The place of each document within its query, from 0."""
    return np.arange(len(q)) - np.searchsorted(q, q)


def _fill(top: NDArray[np.int16], docs: _Docs) -> None:
    grades = _marked(docs)
    if len(grades) == top.size:
        top[:] = grades.reshape(top.shape)
    else:
        top[docs.q, _ranks(docs.q)] = grades


def _marked(docs: _Docs) -> NDArray[np.int16]:
    """The grades, `kernel.REPEAT` where the document stands higher up in the same query.

    Equal documents have equal hashes; where no hash comes twice nothing is repeated, and where
    one does the ids themselves are looked at.
    """
    pairs, grades = docs.pairs, docs.grades
    hashes = pairs.hashes ^ (docs.q.astype(np.uint64) * _SPREAD)
    ordered = np.sort(hashes)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    if not twice.size:
        return grades
    marked = grades.copy()
    seen: set[tuple[int, str]] = set()
    for at in np.flatnonzero(np.isin(hashes, twice)).tolist():
        pair = int(docs.q[at]), pairs.keys[int(pairs.rows[at])]
        if pair in seen:
            marked[at] = kernel.REPEAT
        seen.add(pair)
    return marked
