"""What a page is made of. Pure data; `page.render` shows it.

Every text may come from data: it is kept as it is here, and escaped where it is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

__all__ = [
    "Cell",
    "Chart",
    "Charts",
    "Column",
    "Fact",
    "Facts",
    "Fold",
    "Group",
    "Links",
    "Note",
    "Page",
    "Part",
    "Points",
    "Section",
    "Table",
    "Tone",
]

Tone = Literal["", "good", "bad", "warn", "muted"]
"""A colour beside the words, never instead of them."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column's heading; figures stand right, text left."""

    name: str
    number: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in a table.

    Attributes:
        text: shown in full; wraps anywhere when long.
        tone: its colour.
        sort: the number to sort by where the text is none.
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
    """A table.

    Attributes:
        id: its id in the page.
        caption: what it shows; also its name for a screen reader.
        columns: headings.
        rows: as many cells as columns in each.
        head: index of the column that names a row.
        sortable: whether the page's script may offer to sort it.
    """

    id: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    head: int = 0
    sortable: bool = False
    kind: ClassVar[str] = "table"

    @classmethod
    def of(
        cls, name: str, caption: str, columns: Sequence[Column], rows: Sequence[Sequence[str]]
    ) -> Table:
        """A table of plain texts."""
        made = tuple(tuple(Cell(text) for text in row) for row in rows)
        return cls(name, caption, tuple(columns), made)


@dataclass(frozen=True, slots=True)
class Fact:
    """A name and what is so."""

    name: str
    value: str
    tone: Tone = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """A list of facts: one a line, or as tiles where they are few and short."""

    items: tuple[Fact, ...]
    tiles: bool = False
    kind: ClassVar[str] = "facts"


@dataclass(frozen=True, slots=True)
class Points:
    """Sentences in a list, numbered where the order matters."""

    items: tuple[str, ...]
    ordered: bool = False
    kind: ClassVar[str] = "points"


@dataclass(frozen=True, slots=True)
class Note:
    """A paragraph."""

    text: str
    tone: Tone = ""
    kind: ClassVar[str] = "note"


@dataclass(frozen=True, slots=True)
class Links:
    """Ways out of the page, {text: address}; an address that is not http(s) is left as text."""

    items: tuple[tuple[str, str], ...]
    kind: ClassVar[str] = "links"


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart with the words that stand for it.

    Attributes:
        id: its id in the page, the key that it was drawn with.
        title: what it shows.
        description: what it says, also to those who do not see it.
        svg: the drawing, from `svg.draw`.
        table: the same figures, folded; None where `table_at` has them.
        table_at: id of a table elsewhere on the page, or None.
    """

    id: str
    title: str
    description: str
    svg: str
    table: Table | None = None
    table_at: str | None = None


@dataclass(frozen=True, slots=True)
class Charts:
    """Charts side by side where there is room."""

    items: tuple[Chart, ...]
    kind: ClassVar[str] = "charts"


@dataclass(frozen=True, slots=True)
class Fold:
    """Parts behind a line that opens and closes them."""

    title: str
    parts: tuple[Part, ...]
    opened: bool = False
    kind: ClassVar[str] = "fold"


@dataclass(frozen=True, slots=True)
class Group:
    """Parts under a heading of their own, with figures and short marks beside it."""

    id: str
    title: str
    parts: tuple[Part, ...]
    detail: str = ""
    marks: tuple[str, ...] = ()
    kind: ClassVar[str] = "group"


Part: TypeAlias = Table | Facts | Points | Note | Links | Charts | Fold | Group


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a page, in its list of contents."""

    id: str
    title: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """A page.

    Attributes:
        title: in the window's bar.
        heading: at the top.
        word: the result in a word or two.
        why: one sentence on it.
        tone: its colour.
        tiles: the few figures to see first.
        sections: everything else; those without parts are left out.
        footer: what made the page.
    """

    title: str
    heading: str
    word: str
    why: str
    tone: Tone
    tiles: Facts
    sections: tuple[Section, ...]
    footer: str
