"""Judgment lists as JSON: one object a line, or one list of objects. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from relgate.eval.lists.columns import is_list_header, list_columns
from relgate.eval.lists.jsontext import Content, Json, as_list, as_object, json_lines
from relgate.eval.lists.sink import ListFile, Options, Sink

__all__ = ["is_json_list", "is_row", "read_json_list", "read_jsonl_list"]


def is_row(value: Json) -> bool:
    """Whether `value` is an object with the names of a judgment, or of a query and no more."""
    if not isinstance(value, dict):
        return False
    return is_list_header(tuple(value)) or (bool(value) and not _has_pair(tuple(value)))


def is_json_list(content: Content) -> bool:
    """Whether the JSON value is a list whose first entry is a judgment."""
    return isinstance(content.value, list) and bool(content.value) and is_row(content.value[0])


def read_jsonl_list(content: Content, options: Options) -> ListFile:
    """A judgment list of one JSON object a line, with the names that CSV columns have.

    Raises:
        InputError: any fault, with its line; nothing is read from a file in fault.
    """
    return _read(json_lines(content.text, content.path), content, options, "jsonl")


def read_json_list(content: Content, options: Options) -> ListFile:
    """A judgment list that is one JSON list of objects.

    Raises:
        InputError: any fault; nothing is read from a file in fault.
    """
    entries = as_list(content.value, "the file", content.path)
    rows = (
        (None, as_object(entry, f"entry {number}", content.path))
        for number, entry in enumerate(entries, start=1)
    )
    return _read(rows, content, options, "json")


def _read(
    rows: Iterable[tuple[int | None, dict[str, Json]]],
    content: Content,
    options: Options,
    file_format: str,
) -> ListFile:
    sink = Sink(options, content.path)
    known: dict[tuple[str, ...], dict[str, str]] = {}
    for line, row in rows:
        names = tuple(row)
        columns = known.get(names)
        if columns is None:
            columns = known[names] = _columns(names, content.path, line, options)
            for name in names:
                if name not in columns.values():
                    sink.notes.add("kind(s) of field left out", name, line=line)
        sink.add({name: row[column] for name, column in columns.items()}, line=line)
    return sink.finish(file_format)


def _columns(
    names: tuple[str, ...], path: str, line: int | None, options: Options
) -> dict[str, str]:
    """As a CSV header's; a row that only lists its query needs no document and no grade."""
    bare = list_columns(
        (*names, "doc_id", "grade") if not _has_pair(names) else names,
        grade_column=None if not _has_pair(names) else options.grade_column,
        doc_column=None if not _has_pair(names) else options.doc_column,
        path=path,
        line=line,
    )
    return {name: column for name, column in bare.items() if column in names}


def _has_pair(names: tuple[str, ...]) -> bool:
    return not {"query", "query_id"}.issuperset(names)
