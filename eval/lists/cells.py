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

__all__ = ["NotCleanError", "cut", "need", "sound_column", "sound_lines", "trimmed"]

_BLOCK = 1 << 20
"""Bytes a block: what it makes stays in the processor's cache."""
_MAX_CELL = 100_000  # below the csv module's own limit, which the careful reader keeps
_NEWLINE, _DELETE, _FIRST_PRINTABLE = 10, 127, 32
_LEAD, _CONTINUES = np.uint8(0xC0), np.uint8(0x80)  # a byte that continues a character, in UTF-8
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
    need(b"E+" not in raw)
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
        begins = np.empty_like(ends)
        begins[0, 0] = 0
        begins.ravel()[1:] = ends.ravel()[:-1] + 1
        lengths = (ends - begins).astype(np.int32)
        need(lengths.min() > 0 and lengths.max() < _MAX_CELL)
        begins += start
        yield {
            name: Ids.within(data, begins[:, at].copy(), lengths[:, at].copy(), plain=True)
            for name, at in places.items()
            if name
        }
        start = end


def _ends(block: NDArray[np.uint8], delimiter: int, width: int) -> NDArray[np.int64]:
    """Where each cell of each line ends; shape (lines, width)."""
    newline = block == _NEWLINE
    marks = np.flatnonzero(newline | (block == delimiter))
    lines = np.count_nonzero(newline)
    below = np.count_nonzero(block < _FIRST_PRINTABLE)
    tabs = len(marks) - lines if delimiter < _FIRST_PRINTABLE else 0
    need(below == lines + tabs and not (block == _DELETE).any())
    if block[-1] != _NEWLINE:
        marks, lines = np.append(marks, len(block)), lines + 1
    need(len(marks) == lines * width)
    ends = marks.reshape(lines, width)
    last = ends[:-1, -1]
    need((block[last] == _NEWLINE).all() if len(last) else True)
    return ends


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
    return Ids.within(data, starts, lengths, plain=True)


def trimmed(column: Ids) -> Ids:
    """The column, none of whose texts, which are not empty, begins or ends with a blank, or begins with a guard.

    Raises:
        NotCleanError: one does.
    """
    data, starts, lengths = column.held()
    first, last = data[starts], data[starts + lengths - 1]
    need(not ((first == ord(" ")) | (first == ord("'")) | (last == ord(" "))).any())
    return column
