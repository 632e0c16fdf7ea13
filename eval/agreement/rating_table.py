"""Tables of grades by several raters: a column a rater, or a row a grade. I/O: reads files.

Judgment lists have one grade a pair and name its rater; these tables are what comparisons of
raters are published as. Numbers may be fractions (a share of workers) when a cut is named.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from relgate.eval.agreement.pairs import UNGRADED
from relgate.eval.agreement.ratings import Ratings
from relgate.eval.files import read_text
from relgate.eval.lists.columns import DOC_ID, QUERY_ID, QUERY_TEXT, fold, grade_of
from relgate.eval.lists.table import Table, open_table
from relgate.eval.lists.types import Scale, match_key
from relgate.rubrics.errors import InputError

__all__ = ["Cells", "RatingTable", "read_long_ratings", "read_wide_ratings"]

_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Cells:
    """How a cell becomes a grade.

    Attributes:
        scale: the grades 0..max_grade that cells hold.
        cut: take numbers at or above it as 1 and below as 0; then any number is read.
        clip: take grades beyond the scale as its nearest end, and count them.
    """

    scale: Scale
    cut: float | None = None
    clip: bool = False

    @property
    def n_grades(self) -> int:
        """How many grades a cell may become."""
        return 2 if self.cut is not None else self.scale.max_grade + 1


@dataclass(frozen=True, slots=True, eq=False)
class RatingTable:
    """Grades of several raters for the same units.

    Attributes:
        path: the file.
        columns: {rater: (U,) grades, or `UNGRADED`}.
        query: (U,), index into `queries`.
        queries: distinct query ids or texts.
        doc_ids: U documents.
        group: U names of the groups asked for; all empty without.
        clipped: cells that were taken as the nearest end of the scale.
    """

    path: str
    columns: dict[str, NDArray[np.int64]]
    query: NDArray[np.int64]
    queries: tuple[str, ...]
    doc_ids: tuple[str, ...]
    group: tuple[str, ...]
    clipped: int

    def groups(self) -> dict[str, NDArray[np.bool_]]:
        """{group: its units}, in order of first appearance."""
        names = np.array(self.group)
        return {name: names == name for name in dict.fromkeys(self.group)}

    def ratings(self, raters: Sequence[str], *, n_grades: int) -> Ratings:
        """The grades of some raters, side by side."""
        grades = np.column_stack([self.columns[name] for name in raters])
        return Ratings(grades, tuple(raters), self.query, self.queries, self.doc_ids, n_grades)


def read_wide_ratings(
    path: str | Path,
    cells: Cells,
    *,
    patterns: Sequence[str],
    others: Iterable[tuple[str, Cells]] = (),
    by: str | None = None,
) -> RatingTable:
    """A table with a column a rater and a row a pair; an empty cell is no grade.

    Args:
        path: the file, plain or gzip; commas, semicolons, tabs or bars.
        cells: how the raters' cells are read.
        patterns: names of the raters' columns; `*` and `?` stand for any.
        others: further columns by exact name, with how they are read (a reference).
        by: a column whose values name groups.

    Raises:
        InputError: a column that is not there, a cell that is no grade, a pair twice; nothing is
            read from a file in fault.
    """
    opened = _Opened(path, by)
    other = dict(others)
    free = [name for name in opened.grade_columns if name not in other]
    names = [name for name in free if any(fnmatchcase(name, pattern) for pattern in patterns)]
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in free):
            raise opened.missing(pattern)
    read = {name: other.get(name, cells) for name in (*other, *names)}
    at = {name: opened.at(name) for name in read}
    rows = list(opened.table.rows())
    lines = [line for line, _ in rows]
    units = opened.units(rows)
    if len(set(units)) < len(units):
        raise opened.twice(units, lines)
    clipped = 0
    columns: dict[str, NDArray[np.int64]] = {}
    for name, how in read.items():
        grader = _Grader(how, str(path), name)
        place = at[name]
        columns[name] = np.array([grader(row[place], line) for line, row in rows], np.int64)
        clipped += grader.clipped
    return opened.built(columns, units, clipped)


def read_long_ratings(
    path: str | Path,
    cells: Cells,
    *,
    rater_column: str,
    grade_column: str,
    by: str | None = None,
) -> RatingTable:
    """A table with a row a grade that names its rater.

    Args:
        path: as `read_wide_ratings`.
        cells: how the grades are read.
        rater_column: the column of the rater.
        grade_column: the column of the grade.
        by: a column whose values name groups.

    Raises:
        InputError: as `read_wide_ratings`; a rater who graded one pair twice differently.
    """
    opened = _Opened(path, by)
    rater_at, grade_at = opened.at(rater_column), opened.at(grade_column)
    grader = _Grader(cells, str(path), grade_column)
    rows = list(opened.table.rows())
    keys = opened.units(rows)
    units = list(dict.fromkeys(keys))
    row_of = {key: i for i, key in enumerate(units)}
    columns: dict[str, NDArray[np.int64]] = {}
    for key, (line, row) in zip(keys, rows, strict=True):
        column = columns.get(row[rater_at])
        if column is None:
            column = columns[row[rater_at]] = np.full(len(units), UNGRADED, np.int64)
        grade, at = grader(row[grade_at], line), row_of[key]
        if column[at] != UNGRADED and grade not in (UNGRADED, column[at]):
            raise InputError(
                f"rater {row[rater_at]!r} graded document {key[1]!r} of query {key[0]!r} twice: "
                f"{column[at]} and {grade}",
                path=path,
                line=line,
                mend="keep one of them",
            )
        column[at] = grade
    return opened.built(dict(sorted(columns.items())), units, grader.clipped)


class _Opened:
    """A table whose query and document columns are found."""

    def __init__(self, path: str | Path, by: str | None) -> None:
        self.path = path
        self.table: Table = open_table(read_text(path), path, fits=_fits)
        by_id = self._named(QUERY_ID)
        self._query = self._named(QUERY_TEXT) if by_id is None else by_id
        self._doc = self._named(DOC_ID)
        if self._query is None or self._doc is None:
            what = "query" if self._query is None else "document"
            raise InputError(
                f"no column for the {what}; found {self._shown()}",
                path=path,
                line=self.table.line,
                mend="name it query_id and doc_id",
            )
        self._by = None if by is None else self.at(by)

    def _named(self, names: Iterable[str]) -> int | None:
        known = frozenset(names)
        found = (i for i, name in enumerate(self.table.header) if fold(name) in known)
        return next(found, None)

    @property
    def grade_columns(self) -> list[str]:
        """The columns that may hold grades: all but query, document and group."""
        taken = {self._query, self._doc, self._by}
        return [name for i, name in enumerate(self.table.header) if i not in taken]

    def at(self, name: str) -> int:
        """Where a column is."""
        try:
            return self.table.header.index(name)
        except ValueError:
            raise self.missing(name) from None

    def missing(self, name: str) -> InputError:
        return InputError(
            f"no column {name!r}; found {self._shown()}",
            path=self.path,
            line=self.table.line,
            mend="name the columns as they stand in the header",
        )

    def _shown(self) -> str:
        header = self.table.header
        return ", ".join(map(repr, header[:_SHOWN])) + (", ..." if len(header) > _SHOWN else "")

    def units(self, rows: Sequence[tuple[int, list[str]]]) -> list[tuple[str, str, str]]:
        """Query, document and group of each row."""
        query, doc, by = self._query, self._doc, self._by
        if query is None or doc is None:  # refused on opening
            return []
        found = [
            (match_key(row[query]), match_key(row[doc]), "" if by is None else row[by])
            for _, row in rows
        ]
        for (line, _), (name, document, _) in zip(rows, found, strict=True):
            if not name or not document:
                raise InputError(
                    "empty query or document", path=self.path, line=line, mend="fill it in"
                )
        return found

    def twice(self, units: Sequence[tuple[str, str, str]], lines: Sequence[int]) -> InputError:
        seen: dict[tuple[str, str, str], int] = {}
        for unit, line in zip(units, lines, strict=True):
            if unit in seen:
                return InputError(
                    f"query {unit[0]!r}, document {unit[1]!r} stands in lines {seen[unit]} and "
                    f"{line}",
                    path=self.path,
                    line=line,
                    mend="keep one row a pair; --by a column tells groups apart",
                )
            seen[unit] = line
        raise AssertionError("no unit stands twice")

    def built(
        self,
        columns: dict[str, NDArray[np.int64]],
        units: Sequence[tuple[str, str, str]],
        clipped: int,
    ) -> RatingTable:
        """The table; one query id in two groups is two queries."""
        names = [(query, group) for query, _, group in units]
        distinct = list(dict.fromkeys(names))
        at = {name: i for i, name in enumerate(distinct)}
        return RatingTable(
            str(self.path),
            columns,
            np.array([at[name] for name in names], np.int64),
            tuple(query for query, _ in distinct),
            tuple(doc for _, doc, _ in units),
            tuple(group for _, _, group in units),
            clipped,
        )


def _fits(names: Sequence[str]) -> bool:
    folded = {fold(name) for name in names}
    return bool(folded & set(DOC_ID)) and bool(folded & {*QUERY_ID, *QUERY_TEXT})


class _Grader:
    """Reads cells, each distinct text once."""

    def __init__(self, cells: Cells, path: str, column: str) -> None:
        self.cells = cells
        self.path = path
        self.column = column
        self.clipped = 0
        self._known: dict[str, tuple[int, bool]] = {"": (UNGRADED, False)}

    def __call__(self, text: str, line: int) -> int:
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = self._read(text, line)
        self.clipped += known[1]
        return known[0]

    def _read(self, text: str, line: int) -> tuple[int, bool]:
        if self.cells.cut is not None:
            return self._cut(text, line, self.cells.cut)
        scale = self.cells.scale
        grade = grade_of(text, scale, pair=f"column {self.column!r}", path=self.path, line=line)
        if grade is None:
            return UNGRADED, False
        if 0 <= grade <= scale.max_grade:
            return grade, False
        if self.cells.clip:
            return min(max(grade, 0), scale.max_grade), True
        raise InputError(
            f"grade {grade} in column {self.column!r} is not on the scale {scale.name} "
            f"(0 to {scale.max_grade})",
            path=self.path,
            line=line,
            mend="correct it, state the scale, or take it as the nearest end with --clip",
        )

    def _cut(self, text: str, line: int, cut: float) -> tuple[int, bool]:
        if not text.strip():
            return UNGRADED, False
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise InputError(
                f"{text[:40]!r} in column {self.column!r} is no number",
                path=self.path,
                line=line,
                mend="leave the cell empty where there is no grade",
            )
        return int(number >= cut), False
