"""The fast way through a clean run, TREC or a table: by columns. Pure.

It reads what needs no care and nothing else: no odd cell, no fault. For any other file it says
None, and the careful reader reads it from the start; so both give the same run, and only the
careful one has messages.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from relgate.eval.lists.cells import NotCleanError, cut, cut_table, need, sound_lines
from relgate.eval.lists.clean import Columns, Groups, text_of
from relgate.eval.lists.ids import Ids, IdsBuilder, extend
from relgate.eval.lists.numerals import decimals, need_whole
from relgate.eval.lists.table import Table
from relgate.eval.lists.types import Query
from relgate.eval.runs.order import in_order
from relgate.eval.runs.types import Documents, Ranking

__all__ = ["Order", "Ranked", "clean_run", "clean_run_columns", "clean_run_table"]

Order: TypeAlias = Literal["rank", "score"] | None
"""What gives the order of a query's documents; None is the file's own order."""

_TREC_PLACES = {"": 6, "query_id": 0, "doc_id": 2, "rank": 3, "score": 4, "run": 5}
_TREC = re.compile(rb"(?:[^ \t\n]+([ \t]))(?:[^ \t\n]+\1){4}[^ \t\n]+(?:\n|\Z)")


@dataclass(frozen=True, slots=True)
class Ranked:
    """What a run says, whichever way it was read.

    Attributes:
        queries: in file order.
        docs: the document ids of each, best first.
        tied: the queries that have equal scores.
        names: the names that the file gives the run.
    """

    queries: tuple[Query, ...]
    docs: Ranking | tuple[Documents, ...]
    tied: tuple[str, ...]
    names: tuple[str, ...]


def clean_run(raw: bytes) -> Ranked | None:
    """The run in a TREC file, or None when it needs the careful reader."""
    try:
        raw = sound_lines(raw)
        need(raw.isascii())
        first = _TREC.match(raw)
        if first is None or (b" " if first[1] == b"\t" else b"\t") in raw:
            return None
        rows = _Rows("score")
        for block in cut(raw, 0, first[1].decode(), _TREC_PLACES):
            need_whole(block["rank"])
            rows.add(block)
        return rows.ranked()
    except NotCleanError:
        return None


def clean_run_table(
    raw: bytes, table: Table, places: Mapping[str, str], order: Order
) -> Ranked | None:
    """The run in a table, or None when it needs the careful reader.

    Args:
        raw: the file.
        table: its header; the rest of its text need not be there.
        places: {query_id, query, doc_id, rank, score, run: column}, those that there are.
        order: what gives the order.
    """
    wanted = {name: table.header.index(column) for name, column in places.items()}
    return clean_run_columns(cut_table(raw, table, wanted), order)


def clean_run_columns(blocks: Iterable[Columns], order: Order) -> Ranked | None:
    """The run in blocks of columns, or None when it needs the careful reader.

    Args:
        blocks: {query_id, query, doc_id, rank, score, run: values}, those that there are.
        order: what gives the order.

    Raises:
        InputError: what `blocks` itself raises.
    """
    try:
        rows = _Rows(order)
        for block in blocks:
            rows.add(block)
        return rows.ranked()
    except NotCleanError:
        return None


class _Rows:
    """The rows of a run as they come in, a block at a time."""

    def __init__(self, order: Order) -> None:
        self._order: Order = order
        self._groups = Groups()
        self._docs = IdsBuilder()
        self._places = array("d")
        self._names: dict[str, None] = {}

    def add(self, block: Columns) -> None:
        queries = {n: block[n] for n in ("query_id", "query") if n in block}
        self._groups.add(queries)
        self._docs.add(text_of(block["doc_id"]))
        if self._order is not None:
            found = block[self._order]
            numbers = decimals(found) if isinstance(found, Ids) else found.astype(np.float64)
            need(np.isfinite(numbers).all())
            placed = numbers if self._order == "rank" else -numbers
            extend(self._places, placed)
        if "run" in block:
            names = text_of(block["run"])
            self._names |= dict.fromkeys(names.take(np.flatnonzero(names.changes())))

    def ranked(self) -> Ranked:
        """The run: each query's documents by what gives the order, the least first."""
        query, ids = self._groups.numbers(), self._docs.build()
        need(len(query))
        places = np.frombuffer(self._places, np.float64)
        queries = self._groups.queries
        if (query[1:] < query[:-1]).any():  # a query's rows do not stand together
            order = np.argsort(query, kind="stable")
            ids, query = ids.take(order), query[order]
            places = places[order] if len(places) else places
        starts = np.searchsorted(query, np.arange(len(queries), dtype=np.int32))
        counts = np.diff(starts, append=len(query))
        tied = np.zeros(0, np.int64)
        if len(places):
            ids, tied = in_order(ids, places, starts, counts)
        need(not (len(tied) and self._order == "rank"))
        shown = tuple(queries[at].shown for at in tied.tolist())
        return Ranked(queries, Ranking(ids, starts, counts), shown, tuple(self._names))
