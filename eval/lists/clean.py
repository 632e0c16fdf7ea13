"""The fast way through a clean judgment list: by columns, in blocks. Pure.

It reads what needs no care and nothing else: no quote, guard, empty cell, odd character, repeat or
fault. For any other file it says None, and the careful reader reads it from the start; so both
give the same list, and only the careful one has messages.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from relgate.eval.lists.cells import NotCleanError, cut, cut_table, need, sound_lines
from relgate.eval.lists.columns import grade_of
from relgate.eval.lists.ids import Ids, IdsBuilder, Rows, distinct, extend, load_words
from relgate.eval.lists.sink import Options
from relgate.eval.lists.table import Table
from relgate.eval.lists.types import JudgmentList, Provenance, Query
from relgate.rubrics.errors import InputError

__all__ = [
    "Columns",
    "Groups",
    "clean_columns",
    "clean_qrels",
    "clean_table",
    "text_of",
]

_NEEDED = frozenset({"query_id", "query", "doc_id", "grade"})
_QRELS = re.compile(rb"[^ \t\n]+([ \t])[^ \t\n]+\1[^ \t\n]+\1[^ \t\n]+(?:\n|\Z)")
_QRELS_PLACES = {"": 4, "query_id": 0, "doc_id": 2, "grade": 3}
_SPREAD = np.uint64(0xD6E8FEB86659FD93)  # odd: no two queries get one value
_WORD = 8
_BYTE = 255

Columns: TypeAlias = Mapping[str, Ids | NDArray[Any]]
"""The columns of a block of rows: text, or numbers (int64, float64)."""


def clean_table(
    raw: bytes, table: Table, columns: Mapping[str, str], options: Options
) -> JudgmentList | None:
    """The list in a table, or None when it needs the careful reader.

    Args:
        raw: the file.
        table: its header; the rest of its text need not be there.
        columns: `{doc_id, grade, query ...: column}`; provenance needs the careful reader.
        options: what the caller said of the list.
    """
    if not _NEEDED.issuperset(columns):
        return None
    places = {name: table.header.index(column) for name, column in columns.items()}
    return clean_columns(cut_table(raw, table, places), options)


def clean_qrels(raw: bytes, options: Options) -> JudgmentList | None:
    """The list in TREC qrels whose lines are all parted alike, or None."""
    try:
        raw = sound_lines(raw)
        first = _QRELS.match(raw)
        if first is None or (b" " if first[1] == b"\t" else b"\t") in raw:
            return None
        return _made(cut(raw, 0, first[1].decode(), _QRELS_PLACES), options)
    except NotCleanError:
        return None


def clean_columns(blocks: Iterable[Columns], options: Options) -> JudgmentList | None:
    """The list in blocks of columns, or None when it needs the careful reader.

    Args:
        blocks: `{query_id, query, doc_id, grade: values}`, one or both of the first two.
        options: what the caller said of the list.

    Raises:
        InputError: what `blocks` itself raises.
    """
    try:
        return _made(blocks, options)
    except NotCleanError:
        return None


def _made(blocks: Iterable[Columns], options: Options) -> JudgmentList:
    docs, grades = IdsBuilder(), array("h")
    groups = Groups()
    seen: dict[str, int] = {}
    for block in blocks:
        need(_NEEDED.issuperset(block))
        docs.add(text_of(block["doc_id"]).hashed())
        groups.add(block)
        extend(grades, _grades(block["grade"], seen, options))
    need(grades)
    query, doc_ids = groups.numbers(), docs.build()
    _need_no_repeats(query, doc_ids)
    return JudgmentList(
        scale=options.scale.once_read,
        queries=groups.queries,
        query=query,
        doc_id=doc_ids,
        grade=np.frombuffer(grades, np.int16),
        origins=(Provenance(options.source),),
        origin=np.zeros(len(query), np.int32),
    )


class Groups:
    """The queries of a table's rows: rows of one query mostly stand together."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._texts: dict[str, str | None] = {}
        self._rows = array("i")

    @property
    def queries(self) -> tuple[Query, ...]:
        """The distinct queries, in the order in which they come."""
        return tuple(map(Query, self._texts, self._texts.values()))

    def numbers(self) -> NDArray[np.int32]:
        """Per row, index into `queries`."""
        return np.frombuffer(self._rows, np.int32)

    def add(self, block: Columns) -> None:
        """Takes in the columns `query_id` and `query`, or one of them.

        Raises:
            NotCleanError: an id has two texts, or a text is odd.
        """
        columns = [text_of(block[name]) for name in ("query_id", "query") if name in block]
        need(columns)
        new = columns[0].changes()
        for column in columns[1:]:
            new |= column.changes()
        starts = np.flatnonzero(new)
        ids = list(columns[0].take(starts))
        texts: list[str | None] = [*ids] if "query" in block else [None] * len(ids)
        if len(columns) > 1:
            texts = list(columns[1].take(starts))
        need(list(map(self._texts.setdefault, ids, texts)) == texts)
        numbers = [self._numbers.setdefault(name, len(self._numbers)) for name in ids]
        counts = np.diff(starts, append=len(new))
        extend(self._rows, np.repeat(np.array(numbers, np.int32), counts))


def text_of(column: Ids | NDArray[Any]) -> Ids:
    """The column, if it is text.

    Raises:
        NotCleanError: it is numbers.
    """
    if not isinstance(column, Ids):
        raise NotCleanError
    return column


def _grades(
    column: Ids | NDArray[Any], seen: dict[str, int], options: Options
) -> NDArray[np.int16]:
    """The grades of a block. Cells are few different ones: each is looked at once."""
    if isinstance(column, Ids):
        data, starts, lengths = column.held()
        need(lengths.max(initial=0) <= _WORD)
        one = lengths.max(initial=0) == 1  # character a cell, as nearly always
        values = data[starts] if one else load_words(data, starts, lengths)
        known, places = _classes(values)  # no cell holds a NUL
        cells = [w.to_bytes(_WORD, "little").rstrip(b"\0").decode() for w in known.tolist()]
    else:
        need(column.dtype == np.int64)
        known, places = _classes(column)
        cells = [str(value) for value in known.tolist()]
    for cell in cells:
        if cell not in seen:
            seen[cell] = _graded(cell, options)
    return np.array([seen[cell] for cell in cells], np.int16)[places]


def _classes(values: NDArray[Any]) -> tuple[NDArray[Any], Rows]:
    """(the different values in order, which of them each is)."""
    if values.dtype.itemsize > 1 and values.size and 0 <= values.min() <= values.max() <= _BYTE:
        values = values.astype(np.uint8)
    if values.dtype != np.uint8:
        known = distinct(values)
        return known, np.searchsorted(known, values)
    is_known = np.bincount(values, minlength=_BYTE + 1) > 0
    return np.flatnonzero(is_known), (np.cumsum(is_known) - 1)[values]


def _graded(cell: str, options: Options) -> int:
    scale = options.scale
    try:
        grade = grade_of(cell, scale, pair="", path=None, line=None)
    except InputError as error:
        raise NotCleanError from error
    if grade is None or not 0 <= grade <= scale.max_grade:
        raise NotCleanError
    return grade


def _need_no_repeats(query: NDArray[np.int32], docs: Ids) -> None:
    """Refuses a list in which a pair may stand twice: the careful reader says which."""
    hashes = query.astype(np.uint64)
    hashes *= _SPREAD
    hashes ^= docs.all_hashes()
    hashes.sort()
    need(not (hashes[1:] == hashes[:-1]).any())
