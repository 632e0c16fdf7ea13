"""Clean delimited bytes cut into columns, a block of lines at a time; no line is ever made. Pure.

What is cut here needs no care: every line has the same number of cells, none is quoted, empty or
odd. Anything else raises `NotCleanError`, and a careful reader takes the file from its start.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from relgate.eval.lists.ids import Ids, Rows
from relgate.eval.lists.table import Table

__all__ = ["NotCleanError", "cut", "cut_table", "need", "sound_column", "sound_lines"]

_BLOCK = 1 << 19
"""Bytes a block: what it makes stays in the processor's cache."""
_MAX_CELL = 100_000  # below the csv module's own limit, which the careful reader keeps
_NEWLINE, _DELETE, _FIRST_PRINTABLE = 10, 127, 32
_LEAD, _CONTINUES = np.uint8(0xC0), np.uint8(0x80)  # a byte that continues a character, in UTF-8
_BLANK, _GUARD = ord(" "), ord("'")
_IS_LEAD = np.isin(np.arange(256), (_BLANK, _GUARD))  # what no cell begins with, by byte
_ASCII = bytes(range(128))
# White space and invisible characters, of those beyond ASCII.
_ODD = re.compile("[^\\S\x00-\x7f]|[\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff]")


class NotCleanError(Exception):
    """The file needs the careful reader."""


def need(condition: object) -> None:
    """Goes on only where `condition` holds.

    Raises:
        NotCleanError: it does not.
    """
    if not condition:
        raise NotCleanError


def _need_sound(raw: bytes) -> None:
    """Refuses bytes with anything that a careful reader would note or change.

    Raises:
        NotCleanError: no UTF-8, not in NFC, an odd blank, an invisible character, or `E+`, by
            which spreadsheets mangle numbers.
    """
    need(b"+" not in raw or b"E+" not in raw)  # one character is found far faster than two
    if raw.isascii():
        return
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise NotCleanError from error
    beyond = raw.translate(None, _ASCII).decode()
    need(_ODD.search(beyond) is None and unicodedata.is_normalized("NFC", text))


def sound_lines(raw: bytes) -> bytes:
    """The bytes with each line end as one character.

    Raises:
        NotCleanError: something in them is noted or changed by a careful reader.
    """
    _need_sound(raw)
    return raw.replace(b"\r\n", b"\n") if b"\r" in raw else raw


def cut(
    raw: bytes, start: int, delimiter: str, places: Mapping[str, int]
) -> Iterator[dict[str, Ids]]:
    """The columns of each block of lines from `start` on, none of whose cells is empty.

    Args:
        raw: from `sound_lines`.
        start: where the first line begins.
        delimiter: what stands between cells.
        places: {name: which cell of a line}, and `""`: how many cells a line has.

    Raises:
        NotCleanError: a line with other cells, an empty or very long one, a control character.
    """
    width, data = places[""], np.frombuffer(raw, np.uint8)
    while start < len(raw):
        end = raw.find(b"\n", start + _BLOCK) + 1 or len(raw)
        ends = _ends(data[start:end], ord(delimiter), width)
        flat = ends.ravel()
        steps = flat[1:] - flat[:-1]  # of one cell and what ends it
        need(flat[0] > 0 and steps.min(initial=2) > 1)
        need(max(flat[0], steps.max(initial=0)) <= _MAX_CELL)
        yield {name: _column(data, start, ends, at) for name, at in places.items() if name}
        start = end


def _column(data: NDArray[np.uint8], start: int, ends: NDArray[np.int64], at: int) -> Ids:
    """Cell `at` of every line of a block that begins at `start`."""
    begins = ends[:, at - 1] + (start + 1)
    if at == 0:  # the cell before it is the last of the line above
        begins[1:] = begins[:-1]
        begins[0] = start
    lengths = (ends[:, at] - begins + start).astype(np.int32)
    return Ids.within(data, begins, lengths, plain=True)


def _ends(block: NDArray[np.uint8], delimiter: int, width: int) -> NDArray[np.int64]:
    """Where each cell of each line ends; shape (lines, width)."""
    marks = block < _FIRST_PRINTABLE
    if delimiter >= _FIRST_PRINTABLE:
        marks |= block == delimiter
    ends = np.flatnonzero(marks)
    found = block[ends]
    need(block.max() < _DELETE or not (block == _DELETE).any())
    if block[-1] != _NEWLINE:
        ends, found = np.append(ends, len(block)), np.append(found, np.uint8(_NEWLINE))
    need(len(ends) % width == 0)
    found = found.reshape(-1, width)
    need((found[:, :-1] == delimiter).all() and (found[:, -1] == _NEWLINE).all())
    return ends.reshape(-1, width)


def sound_column(data: NDArray[np.uint8], starts: Rows, lengths: NDArray[np.int32]) -> Ids:
    """The texts that stand in `data`, which holds nothing else.

    Raises:
        NotCleanError: one is empty, or something in them is noted or changed by a careful reader.
    """
    need(lengths.min(initial=1) > 0)
    raw = data.tobytes()
    _need_sound(raw)
    need(not ((data < _FIRST_PRINTABLE) | (data == _DELETE)).any())
    if not raw.isascii():
        need(not ((data[starts] & _LEAD) == _CONTINUES).any())
    return _trimmed(Ids.within(data, starts, lengths, plain=True))


def cut_table(raw: bytes, table: Table, places: Mapping[str, int]) -> Iterator[dict[str, Ids]]:
    """The columns below the header, as `cut` gives them.

    Args:
        raw: the file.
        table: its header; the rest of its text need not be there.
        places: {name: which cell of a line}.

    Raises:
        NotCleanError: as `cut`, there is a quote, or a cell begins or ends with a blank, or begins
            with a guard.
    """
    need(b'"' not in raw)
    raw = sound_lines(raw[len(table.before.encode()) :])
    start = raw.find(b"\n") + 1
    need(start)
    for block in cut(raw, start, table.delimiter, {**places, "": len(table.header)}):
        yield {name: _trimmed(column) for name, column in block.items()}


def _trimmed(column: Ids) -> Ids:
    data, starts, lengths = column.held()
    need(not _IS_LEAD[data[starts]].any())
    need(not (data[starts + (lengths - 1)] == _BLANK).any())
    return column
