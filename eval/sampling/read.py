"""Reads a sheet back, for those who show its pairs to people. I/O."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from relgate.eval.files import load_content
from relgate.eval.lists.columns import fold, is_list_header, list_columns
from relgate.eval.lists.csv_list import cell_value
from relgate.eval.lists.jsontext import Json, as_text, json_lines
from relgate.eval.lists.table import open_table
from relgate.eval.lists.types import Query, match_key
from relgate.eval.sampling.sheet import SheetRow
from relgate.rubrics.errors import InputError

__all__ = ["Sheet", "read_sheet"]

_TEXT = "text"
_PLAIN = frozenset({"grade", "rater", "judged_at", "reason", "source", "text_hash", "old_grade"})


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet's pairs, in its order.

    Attributes:
        rows: pairs that are still blank, no pair twice. `more` has the sheet's further columns,
            but none that holds a grade.
        graded: pairs that somebody graded on the sheet, left out.
    """

    rows: tuple[SheetRow, ...]
    graded: int


def read_sheet(path: Path) -> Sheet:
    """The pairs of a sheet that `relgate sample` or `relgate refresh` wrote, or one like it.

    Columns: query (`query_id`, `query`), `doc_id`, `grade`, and where it has them `text` and
    others.

    Raises:
        InputError: any fault, with its line: no such columns, an empty id, no row.
    """
    rows: dict[tuple[str, str], SheetRow] = {}
    graded = 0
    for line, row in _rows(path):
        columns = list_columns(tuple(row), grade_column=None, path=path, line=line)
        values = {name: _cell(row[column], column, path, line) for name, column in columns.items()}
        if values["grade"]:
            graded += 1
            continue
        query = Query(values.get("query_id") or values.get("query") or "", values.get("query"))
        doc_id = values["doc_id"] or ""
        if not query.id or not doc_id:
            raise InputError("empty query or document id", path=path, line=line, mend="fill it in")
        known = {*columns.values(), *(name for name in row if fold(name) in {_TEXT, *_PLAIN})}
        text = next((row[name] for name in row if fold(name) == _TEXT), None)
        more = {
            name: found
            for name, value in row.items()
            if name not in known and (found := _cell(value, name, path, line))
        }
        key = match_key(query.id), match_key(doc_id)
        rows.setdefault(key, SheetRow(query, doc_id, _cell(text, _TEXT, path, line) or "", more))
    if not rows and not graded:
        raise InputError("no row below the header", path=path, mend="draw it again")
    return Sheet(tuple(rows.values()), graded)


def _rows(path: Path) -> Iterable[tuple[int | None, dict[str, Json]]]:
    content = load_content(path)
    if content.kind != "text":
        yield from json_lines(content.text, content.path)
        return
    table = open_table(content.text, content.path, fits=is_list_header)
    list_columns(table.header, grade_column=None, path=path, line=table.line)
    for line, cells in table.rows():
        named = zip(table.header, cells, strict=True)
        yield line, {name: cell_value(name, text) for name, text in named}


def _cell(value: Json, name: str, path: Path, line: int | None) -> str | None:
    if value is None or value == "":
        return None
    try:
        return as_text(value, f"the {name}", str(path))
    except InputError as error:
        raise InputError(error.what, path=path, line=line, mend=error.mend) from error
