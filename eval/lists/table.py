"""Delimited text to rows, strictly: no field is guessed, no row is swallowed. Pure."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from relgate.rubrics.errors import InputError

__all__ = ["DELIMITERS", "Table", "cell", "guarded", "open_table", "unguarded"]

DELIMITERS = (",", ";", "\t", "|")
"""What may stand between fields; found out from the header line alone."""

_SEP_LINE = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)  # Excel's own first line
_NUMBER = r"[+-]?[0-9]+(?:[.,][0-9]+)?(?:[eE][+-]?[0-9]+)?"
# A cell that a spreadsheet would run. Numbers are left alone; what has the guard already gets one
# more, so that taking one off always gives back the text.
_FORMULA = re.compile(rf"'*(?!{_NUMBER}\Z)[=+\-@\t\r\n＝＋－＠]")  # noqa: RUF001 - full width runs too
_EMPTY = re.compile(r"'*\Z")


def guarded(text: str, *, optional: bool = False) -> str:
    """`text` as a cell that no spreadsheet runs as a formula; `unguarded` gives it back.

    Args:
        text: any text.
        optional: the column may be blank, so that the empty text is told from no text.
    """
    return "'" + text if _FORMULA.match(text) or (optional and _EMPTY.match(text)) else text


def unguarded(text: str, *, optional: bool = False) -> str:
    """The text that `guarded` made a cell of."""
    if text.startswith("'") and guarded(text, optional=optional) != text:
        return text[1:]
    return text


def cell(text: str, delimiter: str = ",") -> str:
    """`text` as one field of a delimited line, in quotes where it needs them."""
    if delimiter in text or '"' in text or "\n" in text or "\r" in text:
        return '"' + text.replace('"', '""') + '"'
    return text


@dataclass(frozen=True, slots=True)
class Table:
    """A header and the rows below it.

    Attributes:
        path: the file, for messages.
        header: the column names as they stand.
        delimiter: what stands between fields.
        line: the header's line.
        body: the text from the header on.
        before: what stands before the header: an Excel `sep=` line, blank lines.
    """

    path: str
    header: tuple[str, ...]
    delimiter: str
    line: int
    body: str
    before: str = ""

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Each row's first line and its cells, as many as the header has; blank lines passed.

        Raises:
            InputError: an unclosed or odd quote, or another number of fields than the header.
        """
        for line, cells in _records(self.body, self.delimiter, self.path, self.line):
            if line == self.line:
                continue
            if len(cells) != len(self.header):
                raise InputError(
                    f"{len(cells)} fields where the header has {len(self.header)}",
                    path=self.path,
                    line=line,
                    mend='put fields that hold the delimiter in "quotes"',
                )
            yield line, cells


def open_table(text: str, path: str | Path, *, fits: Callable[[Sequence[str]], bool]) -> Table:
    """The table in `text`: the delimiter is the first with which the header `fits`.

    When none fits, it is the one that gives most columns, and the caller says what is missing.

    Raises:
        InputError: a quote in the header that never closes.
    """
    line, whole = 1, text
    delimiters: tuple[str, ...] = DELIMITERS
    if stated := _SEP_LINE.match(text):
        line, delimiters, text = 2, (stated[1],), text[stated.end() :]
    blank = re.match(r"(?:[ \t]*(?:\r\n|\r|\n))*", text)
    if blank:
        line += len(re.findall(r"\r\n|\r|\n", blank[0]))
        text = text[blank.end() :]
    before = whole[: len(whole) - len(text)]
    tables = [
        Table(str(path), _header(text, delimiter, str(path), line), delimiter, line, text, before)
        for delimiter in delimiters
    ]
    fitting = [table for table in tables if fits(table.header)]
    return fitting[0] if fitting else max(tables, key=lambda table: len(table.header))


def _header(text: str, delimiter: str, path: str, line: int) -> tuple[str, ...]:
    end = text.find("\n") + 1
    if end and '"' not in text[:end]:
        text = text[:end]  # the reader would copy all of it
    for _, cells in _records(text, delimiter, path, line):
        return tuple(cells)
    return ()


def _records(
    text: str, delimiter: str, path: str, first_line: int
) -> Iterator[tuple[int, list[str]]]:
    """Each record's first line and cells. A quote that is odd or open is an error there."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    start = first_line
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise InputError(
                f"an unclosed or odd field ({error})",
                path=path,
                line=start,
                mend='close the quote; a quote inside a quoted field is written ""',
            ) from error
        if cells:
            yield start, cells
        start = first_line + reader.line_num
