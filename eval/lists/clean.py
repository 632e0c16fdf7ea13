"""The fast way through a clean judgment list: by columns, in blocks. Pure.

It reads what needs no care and nothing else: no quote, guard, empty cell, odd character, repeat or
fault. For any other file it says None, and the careful reader reads it from the start; so both
give the same list, and only the careful one has messages.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from relgate.eval.lists.columns import grade_of
from relgate.eval.lists.notes import oddities
from relgate.eval.lists.sink import Options
from relgate.eval.lists.table import Table
from relgate.eval.lists.types import JudgmentList, Provenance, Query
from relgate.rubrics.errors import InputError

__all__ = ["clean_columns", "clean_qrels", "clean_table"]

_BLOCK = 1 << 20
"""Characters a block: what it makes stays in the processor's cache."""
_MAX_CELL = 100_000  # below the csv module's own limit, which the careful reader keeps
_NEEDED = frozenset({"query_id", "query", "doc_id", "grade"})
_NEWLINE = 10
_QRELS = re.compile(r"[^ \t\n]+([ \t])[^ \t\n]+\1[^ \t\n]+\1[^ \t\n]+(?:\n|\Z)")
_QRELS_PLACES = {"query_id": 0, "doc_id": 2, "grade": 3}

_Columns = Mapping[str, Sequence[object]]


class _NotCleanError(Exception):
    """The file needs the careful reader."""


def clean_table(table: Table, columns: Mapping[str, str], options: Options) -> JudgmentList | None:
    """The list in a table, or None when it needs the careful reader.

    Args:
        table: the header, and the text from it on.
        columns: `{doc_id, grade, query ...: column}`; provenance needs the careful reader.
        options: what the caller said of the list.
    """
    places = {name: table.header.index(column) for name, column in columns.items()}
    body = table.body.replace("\r\n", "\n")
    start = body.find("\n") + 1
    if '"' in body or not start:
        return None
    return clean_columns(_split(body, start, table.delimiter, len(table.header), places), options)


def clean_qrels(text: str, options: Options) -> JudgmentList | None:
    """The list in TREC qrels whose lines are all parted alike, or None."""
    body = text.replace("\r\n", "\n")
    first = _QRELS.match(body)
    if first is None or (" " if first[1] == "\t" else "\t") in body:
        return None
    return clean_columns(_split(body, 0, first[1], 4, _QRELS_PLACES), options)


def clean_columns(blocks: Iterable[_Columns], options: Options) -> JudgmentList | None:
    """The list in blocks of columns, or None when it needs the careful reader.

    Args:
        blocks: `{query_id, query, doc_id, grade: values}`, one or both of the first two; all
            values of a column are text, or all are whole numbers.
        options: what the caller said of the list.
    """
    made = _Made(options)
    try:
        for block in blocks:
            made.add(block)
        return made.finish()
    except _NotCleanError:
        return None


class _Made:
    """The list as it grows, a block at a time."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._docs: list[str] = []
        self._query = array("i")
        self._grade = array("h")
        self._queries: dict[str, int] = {}
        self._texts: list[str | None] = []
        self._grades: dict[object, int] = {}

    def add(self, block: _Columns) -> None:
        _need(set(block) <= _NEEDED)
        docs = _texts(block["doc_id"])
        _need(_is_plain(docs) or all(map(_is_sound, docs)))
        self._docs += docs
        texts = _texts(block["query"]) if "query" in block else None
        ids = _texts(block["query_id"]) if "query_id" in block else texts
        self._add_queries(ids or [], texts)
        grades = block["grade"]
        _need(len(set(map(type, grades))) == 1)  # 1 and True are one key
        for cell in set(grades).difference(self._grades):
            self._grades[cell] = self._graded(cell)
        self._grade.extend(map(self._grades.__getitem__, grades))

    def _add_queries(self, ids: list[str], texts: list[str] | None) -> None:
        apart = texts is not None and texts is not ids
        named = dict(zip(ids, texts or (), strict=True)) if apart else dict.fromkeys(ids)
        for query_id, text in named.items():
            if query_id not in self._queries:
                _need(_is_sound(query_id) and _is_sound(text or query_id))
                self._queries[query_id] = len(self._texts)
                self._texts.append(query_id if texts is ids else text)
        self._query.extend(map(self._queries.__getitem__, ids))
        if texts is not None and apart:
            own = map(self._texts.__getitem__, self._query[-len(ids) :])
            _need(all(one == two for one, two in zip(own, texts, strict=True)))

    def _graded(self, cell: object) -> int:
        scale = self._options.scale
        _need(isinstance(cell, (str, int)) and not isinstance(cell, bool))
        try:
            grade = grade_of(str(cell), scale, pair="", path=None, line=None)
        except InputError as error:
            raise _NotCleanError from error
        if grade is None or not 0 <= grade <= scale.max_grade:
            raise _NotCleanError
        return grade

    def finish(self) -> JudgmentList:
        _need(bool(self._docs))
        query = np.frombuffer(self._query, np.int32)
        _need(not _repeats(query, self._docs))
        return JudgmentList(
            scale=self._options.scale.once_read,
            queries=tuple(map(Query, self._queries, self._texts)),
            query=query,
            doc_id=tuple(self._docs),
            grade=np.frombuffer(self._grade, np.int16),
            origins=(Provenance(self._options.source),),
            origin=np.zeros(len(self._docs), np.int32),
        )


def _need(condition: bool) -> None:  # noqa: FBT001 - it reads as a sentence
    if not condition:
        raise _NotCleanError


def _is_sound(text: str) -> bool:
    """Whether a text is in NFC, not guarded, and nothing about it is odd."""
    is_nfc = text.isascii() or unicodedata.is_normalized("NFC", text)
    return is_nfc and not text.startswith("'") and not oddities(text)


def _texts(values: Sequence[object]) -> list[str]:
    """A column as text, none of it empty."""
    (kind, *others) = set(map(type, values))
    _need(not others and kind in (str, int))
    texts = [str(value) for value in values] if kind is int else cast("list[str]", values)
    _need(all(texts))
    return texts


def _is_plain(texts: list[str]) -> bool:
    """Whether all are ASCII without anything odd or guarded: one look at all of them at once."""
    joined = f"|{'|'.join(texts)}|"
    odd = ("E+", "| ", " |", "|'")
    return joined.isascii() and joined.isprintable() and not any(mark in joined for mark in odd)


def _split(
    body: str, start: int, delimiter: str, width: int, places: Mapping[str, int]
) -> Iterator[_Columns]:
    """The columns of each block of lines, once it is sure that each line has `width` cells."""
    while start < len(body):
        end = body.find("\n", start + _BLOCK) + 1 or len(body)
        block = body[start:end].removesuffix("\n")
        _check_shape(
            np.frombuffer(block.encode("utf-8", "surrogatepass"), np.uint8), delimiter, width
        )
        _need("\r" not in block)
        cells = block.replace("\n", delimiter).split(delimiter)
        yield {name: cells[place::width] for name, place in places.items()}
        start = end


def _check_shape(raw: NDArray[np.uint8], delimiter: str, width: int) -> None:
    """Each line has `width` cells, none empty and none too long."""
    ends = np.append(np.flatnonzero((raw == ord(delimiter)) | (raw == _NEWLINE)), len(raw))
    lengths = np.diff(ends, prepend=-1) - 1
    _need(len(ends) % width == 0 and bool(lengths.min() > 0 and lengths.max() < _MAX_CELL))
    newlines = np.flatnonzero(raw[ends[:-1]] == _NEWLINE)
    _need(len(newlines) == len(ends) // width - 1)
    _need(bool((newlines % width == width - 1).all()))


def _repeats(query: NDArray[np.int32], docs: list[str]) -> bool:
    """Whether any (query, document) stands twice."""
    if (np.diff(query) < 0).any():
        order = np.argsort(query, kind="stable")
        query, docs = query[order], [docs[place] for place in order.tolist()]
    ends: list[int] = [*(np.flatnonzero(np.diff(query)) + 1).tolist(), len(docs)]
    start = 0
    for end in ends:
        if len(set(docs[start:end])) < end - start:
            return True
        start = end
    return False
