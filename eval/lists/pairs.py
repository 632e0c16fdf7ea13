"""Finds a (query, document) pair in a judgment list, for whole columns of pairs at once. Pure.

A hash table with linear probing, one stretch of slots a query, filled and asked by columns: each
turn of a loop handles all pairs that are still on their way, and nearly all arrive in the first.
Exact: a hash only says where to look, and every pair found is compared byte by byte.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relgate.eval.lists.ids import Ids, Rows

__all__ = ["PairIndex", "Pairs"]

_ROOM = 3  # slots a pair, at the least
_BLOCK = 1 << 16
_TAG_BITS = np.uint64(32)

_Hashes = NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Pairs to look for; all of shape (n,).

    Attributes:
        keys: holds the documents, in the form of `Ids.keys`.
        rows: the document of each, as a row of `keys`.
        hashes: `keys.hashes(rows)`.
        query: the number of its query; -1 is one that the list does not have.
    """

    keys: Ids
    rows: Rows
    hashes: _Hashes
    query: NDArray[np.int64]

    def only(self, which: Rows | slice) -> Pairs:
        """Some of them."""
        return Pairs(self.keys, self.rows[which], self.hashes[which], self.query[which])


class PairIndex:
    """The rows of a list by (query, document).

    Args:
        query: per row, the number of its query, 0 <= number < n_queries; shape (n,).
        ids: per row, its document, compared as `Ids.keys` has it.
        n_queries: how many queries there are.

    Attributes:
        has_repeats: some pair stands in two rows; `find` then gives one of them.
    """

    __slots__ = ("_base", "_keys", "_mask", "_rows", "_tags", "has_repeats")

    def __init__(self, query: NDArray[np.int32], ids: Ids, n_queries: int) -> None:
        self._keys = ids.keys()
        room = np.maximum(np.bincount(query, minlength=n_queries) * _ROOM, 1)
        # One slot more, always empty, is what query -1 meets: it is the last of `_base`.
        sizes = np.append(np.exp2(np.ceil(np.log2(room))), 1).astype(np.int64)
        self._base = np.cumsum(sizes) - sizes
        self._mask = sizes - 1
        self._rows = np.full(int(sizes.sum()), -1, np.int32)
        self._tags = np.zeros(len(self._rows), np.uint32)  # 0: the slot is empty
        self.has_repeats = False
        for start in range(0, len(ids), _BLOCK):
            rows = np.arange(start, min(start + _BLOCK, len(ids)))
            hashes = self._keys.hashes(rows)
            self._insert(Pairs(self._keys, rows, hashes, query[rows].astype(np.int64)))

    def _slots(self, pairs: Pairs, step: int) -> Rows:
        """Where each looks in this turn: from its hash on, around its query's stretch."""
        inner = (pairs.hashes.view(np.int64) + step) & self._mask[pairs.query]
        return self._base[pairs.query] + inner

    def _insert(self, pairs: Pairs) -> None:
        step = 0
        while len(pairs.rows):
            slots, tags = self._slots(pairs, step), _tags(pairs.hashes)
            free = np.flatnonzero(self._tags[slots] == 0)
            self._rows[slots[free]] = pairs.rows[free]  # of several that claim one, one stays
            there = self._rows[slots].astype(np.int64)
            stays = there == pairs.rows
            self._tags[slots[stays]] = tags[stays]
            moved = np.flatnonzero(~stays)
            twins = moved[self._tags[slots[moved]] == tags[moved]]
            if self._keys.same(pairs.rows[twins], self._keys, there[twins]).any():
                self.has_repeats = True
            pairs, step = pairs.only(moved), step + 1

    def find(self, pairs: Pairs) -> Rows:
        """The row of each pair, -1 where the list has none; shape (n,)."""
        found = np.full(len(pairs.rows), -1, np.int64)
        for start in range(0, len(found), _BLOCK):
            part = slice(start, start + _BLOCK)
            self._find(pairs.only(part), found[part])
        return found

    def _find(self, pairs: Pairs, found: Rows) -> None:
        at, step = np.arange(len(found)), 0
        while len(at):
            slots = self._slots(pairs, step)
            tags = self._tags[slots]
            hits = np.flatnonzero(tags == _tags(pairs.hashes))
            there = self._rows[slots[hits]].astype(np.int64)
            same = pairs.keys.same(pairs.rows[hits], self._keys, there)
            found[at[hits[same]]] = there[same]
            tags[hits[same]] = 0
            left = np.flatnonzero(tags)  # a slot is taken, and by another pair
            at, pairs, step = at[left], pairs.only(left), step + 1


def _tags(hashes: _Hashes) -> NDArray[np.uint32]:
    """Half of each hash, the half that does not choose the slot; never 0."""
    return (hashes >> _TAG_BITS).astype(np.uint32) | np.uint32(1)
