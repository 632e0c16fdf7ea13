"""Runs meet the judgment list: the grade of every document at every rank. Pure.

Documents and judgments are joined inside their query by `JudgmentList.find`; no text is made.
Everything goes in blocks of queries, so that what a block needs stays in the processor's cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, repeat
from types import MappingProxyType

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
_NO_ROWS = np.zeros(0, np.int64)
_UNRATED_BYTE = kernel.UNRATED & 0xFF
_NOTHING: Mapping[str, int] = MappingProxyType({})

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
        distinct: it is known that no query has a document twice.
    """

    ids: Ids
    starts: _Ints
    counts: _Ints
    distinct: bool = False

    def part(self, queries: slice, counts: _Ints) -> Retrieved:
        """The first `counts` documents of some queries."""
        return Retrieved(self.ids, self.starts[queries], counts[queries], self.distinct)

    def rows(self) -> Rows:
        """The row of each document; shape (n,)."""
        counts = self.counts
        ends = np.cumsum(counts)
        n = int(ends[-1]) if len(ends) else 0
        return np.arange(n) + np.repeat(self.starts - ends + counts, counts)


@dataclass(frozen=True, slots=True, eq=False)
class _Docs:
    """Documents of a block of queries, each query's in its order.

    Attributes:
        q: the number of each one's query in the block; shape (n,).
        grades: its grade, or `kernel.UNRATED`; shape (n,).
        repeated: which of them stand higher up already, as indices.
    """

    q: _Ints
    grades: NDArray[np.int16]
    repeated: Rows

    def codes(self) -> NDArray[np.int16]:
        """The grades, see `kernel`."""
        codes = self.grades.copy() if len(self.repeated) else self.grades
        codes[self.repeated] = kernel.REPEAT
        return codes


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
    for part in _blocks(looked_at):
        docs = _docs(judgments, listed[part], retrieved.part(part, cut))
        _fill(top[part], docs.q, docs.codes())
        if unrated == "zero":
            continue
        if unrated == "condensed":
            docs = _docs(judgments, listed[part], retrieved.part(part, counts))
        rated = np.flatnonzero(docs.grades >= 0)
        rated = rated[_ranks(docs.q[rated]) < width]
        _fill(scored[part], docs.q[rated], docs.codes()[rated])
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
    q = np.repeat(np.arange(len(block.counts)), block.counts)
    if judgments.given is not None and (texts := block.ids.plain_texts) is not None:
        docs: list[str] = texts[block.rows()].tolist()
        grades = _looked_up(judgments.given, listed, docs, block.counts)
        return _Docs(q, grades, _NO_ROWS if block.distinct else _repeated(q.tolist(), docs))
    keys, rows = block.ids.keys(), block.rows()
    pairs = Pairs(keys, rows, keys.hashes(rows), np.repeat(listed, block.counts))
    grade = np.append(judgments.grade, np.int16(kernel.UNRATED))  # -1, not found, meets the end
    grades = grade[judgments.pairs.find(pairs)]
    return _Docs(q, grades, _NO_ROWS if block.distinct else _repeated_pairs(q, pairs))


def _looked_up(
    judged: Sequence[Mapping[str, int]], listed: _Ints, docs: Sequence[str], counts: _Ints
) -> NDArray[np.int16]:
    """Grades of ids that are at hand as text: a look-up each, without byte code.

    A grade or `UNRATED` is a byte, which Python makes many of faster than numbers of any type.
    """
    index: list[int] = listed.tolist()
    look_ups: list[Callable[[str, int], int]]
    look_ups = [judged[i].get if i >= 0 else _NOTHING.get for i in index]
    sizes: list[int] = counts.tolist()
    left, unrated = iter(docs), repeat(_UNRATED_BYTE)
    found = [
        bytes(map(look_up, islice(left, n), unrated))
        for look_up, n in zip(look_ups, sizes, strict=True)
    ]
    return np.frombuffer(b"".join(found), np.int8).astype(np.int16)


def _repeated_pairs(q: _Ints, pairs: Pairs) -> Rows:
    """Which pairs stand higher up already.

    Equal documents have equal hashes; where no hash comes twice nothing is repeated, and where
    one does the ids themselves are looked at.
    """
    hashes = pairs.hashes ^ (q.astype(np.uint64) * _SPREAD)
    ordered = np.sort(hashes)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    if not twice.size:
        return _NO_ROWS
    alike = np.flatnonzero(np.isin(hashes, twice))
    docs: list[str] = [pairs.keys[at] for at in pairs.rows[alike].tolist()]
    return alike[_repeated(q[alike].tolist(), docs)]


def _repeated(q: Sequence[int], docs: Sequence[str]) -> Rows:
    """Which documents of a query stand higher up already."""
    pairs = list(zip(q, docs, strict=True))
    if len(set(pairs)) == len(pairs):
        return _NO_ROWS
    seen: set[tuple[int, str]] = set()
    repeated: list[int] = []
    for at, pair in enumerate(pairs):
        if pair in seen:
            repeated.append(at)
        seen.add(pair)
    return np.array(repeated, np.int64)


def _ranks(q: _Ints) -> _Ints:
    """The place of each document within its query, from 0."""
    return np.arange(len(q)) - np.searchsorted(q, q)


def _fill(top: NDArray[np.int16], q: _Ints, codes: NDArray[np.int16]) -> None:
    if len(codes) == top.size:
        top[:] = codes.reshape(top.shape)
    else:
        top[q, _ranks(q)] = codes
