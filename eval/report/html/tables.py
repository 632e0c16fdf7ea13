"""Tables and lists of facts, as the templates draw them. Pure.

Text may come from data: it is kept as it is here, and escaped where a template shows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

__all__ = ["Cell", "Column", "Fact", "Table", "Tone"]

Tone = Literal["", "good", "bad", "warn", "muted"]
"""A colour beside the words, never instead of them."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column's heading.

    Attributes:
        name: what stands at its head.
        number: figures stand right, text left.
    """

    name: str
    number: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in a table.

    Attributes:
        text: shown in full; wraps anywhere when long.
        tone: its colour.
        sort: what to sort by where the text is not it: a number, or None for the text.
        target: id of a part of the page that the text leads to, or None.
        marks: short words after the text, `head`.
    """

    text: str
    tone: Tone = ""
    sort: float | None = None
    target: str | None = None
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """A table. The first column names its row.

    Attributes:
        caption: what it shows; also its name for a screen reader.
        columns: headings.
        rows: as many cells as columns in each.
        sortable: whether the page's script may offer to sort it.
    """

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    sortable: bool = False

    @classmethod
    def of(cls, caption: str, columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> Table:
        """A table of plain texts."""
        made = tuple(tuple(Cell(text) for text in row) for row in rows)
        return cls(caption, tuple(columns), made)


@dataclass(frozen=True, slots=True)
class Fact:
    """A name and what is so: one line of a list of facts."""

    name: str
    value: str
    tone: Tone = ""
