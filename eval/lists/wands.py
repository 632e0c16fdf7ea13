"""WANDS: files named .csv that are parted by tabs; the texts stand in a file of their own. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from relgate.eval.lists.jsontext import Content, as_text
from relgate.eval.lists.sink import ListFile, Options, Sink
from relgate.eval.lists.table import Table, open_table
from relgate.eval.lists.types import match_key
from relgate.rubrics.errors import InputError

__all__ = ["has_wands_header", "read_wands", "wands_queries"]

_LABELS = ("id", "query_id", "product_id", "label")
_QUERIES = ("query_id", "query")


def _fits(names: Sequence[str]) -> bool:
    return tuple(names) == _LABELS


def has_wands_header(content: Content) -> bool:
    """Whether the header is that of `label.csv`."""
    return _fits(open_table(content.head, content.path, fits=_fits).header)


def read_wands(content: Content, options: Options) -> ListFile:
    """The labels; the texts of the queries are in the options.

    Raises:
        InputError: any fault, with its line; nothing is read from a file in fault.
    """
    table = _table(content.text, content.path, _LABELS)
    sink = Sink(options, content.path)
    if not options.texts:
        sink.notes.add("file(s) missing beside it: the queries have no texts", "query.csv")
    for line, (_, query_id, doc_id, label) in table.rows():
        if options.texts and match_key(query_id) not in options.texts:
            sink.notes.add("row(s) of a query that query.csv lacks", query_id, line=line)
        sink.add({"query_id": query_id, "doc_id": doc_id, "grade": label}, line=line)
    return sink.finish("wands")


def wands_queries(text: str, path: str) -> Mapping[str, str]:
    """{match_key(query id): text} of `query.csv`.

    Raises:
        InputError: other columns, or an id with two texts.
    """
    table = _table(text, path, _QUERIES)
    places = [table.header.index(name) for name in _QUERIES]
    found: dict[str, str] = {}
    for line, cells in table.rows():
        query_id, words = (as_text(cells[place], "a query", path) for place in places)
        if found.setdefault(match_key(query_id), words) != words:
            raise InputError(
                f"query {query_id!r} has two texts", path=path, line=line, mend="keep one"
            )
    return found


def _table(text: str, path: str, names: Sequence[str]) -> Table:
    table = open_table(text, path, fits=lambda header: set(names) <= set(header))
    missing = [name for name in names if name not in table.header]
    if missing:
        raise InputError(
            f"no column {', '.join(missing)}", path=path, line=table.line, mend="fetch it again"
        )
    return table
