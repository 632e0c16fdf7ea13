"""Judgment lists as delimited text: CSV, semicolons, tabs; Quepid's ratings export. Pure."""

from __future__ import annotations

from relgate.eval.lists.clean import clean_table
from relgate.eval.lists.columns import is_list_header, list_columns
from relgate.eval.lists.jsontext import Content, Json
from relgate.eval.lists.sink import ListFile, Options, Sink
from relgate.eval.lists.table import Table, guarded, open_table, unguarded

__all__ = [
    "cell_text",
    "cell_value",
    "has_list_header",
    "read_csv_list",
    "read_quepid_csv",
    "unspaced",
]

_REQUIRED = frozenset({"query_id", "doc_id"})
_QUEPID_SPACED = ("-", "=", "+", "@")


def has_list_header(
    content: Content, grade_column: str | None = None, doc_column: str | None = None
) -> bool:
    """Whether the first line names the columns of a judgment list."""
    header = _open(content.head, content.path, grade_column, doc_column).header
    return is_list_header(header, grade_column, doc_column)


def read_csv_list(content: Content, options: Options) -> ListFile:
    """A judgment list from delimited text with a header.

    Raises:
        InputError: any fault, with its line; nothing is read from a file in fault.
    """
    return _read(content, options, "csv")


def read_quepid_csv(content: Content, options: Options) -> ListFile:
    """Quepid's basic ratings export; the blank that it puts before `- = + @` is taken off.

    Raises:
        InputError: as `read_csv_list`.
    """
    return _read(content, options, "quepid-csv")


def _open(text: str, path: str, grade_column: str | None, doc_column: str | None) -> Table:
    return open_table(
        text,
        path,
        fits=lambda names: is_list_header(names, grade_column, doc_column),
    )


def _read(content: Content, options: Options, file_format: str) -> ListFile:
    stated = options.grade_column, options.doc_column
    table = _open(content.header_text, content.path, *stated)
    columns = list_columns(
        table.header,
        grade_column=options.grade_column,
        doc_column=options.doc_column,
        path=content.path,
        line=table.line,
    )
    places = [(name, table.header.index(column)) for name, column in columns.items()]
    quepid = file_format == "quepid-csv"
    sink = Sink(options, content.path)
    for name in table.header:
        if name not in columns.values():
            sink.notes.add("column(s) left out", name)
    clean = None if quepid else clean_table(content.raw, table, columns, options)
    if clean is not None:
        return ListFile(clean, file_format, content.path, 0, 0, 0, sink.notes.lines())
    for line, cells in _open(content.text, content.path, *stated).rows():
        row: dict[str, Json] = {
            name: unspaced(cells[at]) if quepid else cell_value(name, cells[at])
            for name, at in places
        }
        if not quepid and any(_is_spaced(row[name]) for name in ("query", "doc_id") if name in row):
            sink.notes.add(
                "text(s) begin with a blank and - = + or @, as Quepid writes them; "
                "--format quepid-csv takes the blank off",
                str(row.get("query")),
                line=line,
            )
        sink.add(row, line=line)
    return sink.finish(file_format)


def cell_text(name: str, text: str | None) -> str:
    """What stands in column `name` for `text`, guarded against spreadsheets; quotes come later."""
    return "" if text is None else guarded(text, optional=name not in _REQUIRED)


def cell_value(name: str, text: str) -> Json:
    """The text that `cell_text` put into column `name`; a grade is never text."""
    if name == "grade":
        return text
    return unguarded(text, optional=name not in _REQUIRED) if text else None


def _is_spaced(value: Json) -> bool:
    return isinstance(value, str) and value[:1] == " " and value[1:].startswith(_QUEPID_SPACED)


def unspaced(value: str) -> str | None:
    """A cell without the blank that Quepid puts before `- = + @`; None when it is empty."""
    return value[1:] if _is_spaced(value) else value or None
