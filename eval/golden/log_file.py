"""Reads a query log, and a map of durable keys to live ids. I/O."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from relgate.eval.files import load_content
from relgate.eval.golden.log import LogRow
from relgate.eval.golden.types import FilterValue
from relgate.eval.lists.columns import fold
from relgate.eval.lists.jsontext import (
    Content,
    Json,
    as_list,
    as_object,
    as_text,
    json_lines,
    parse_json,
)
from relgate.eval.lists.table import open_table
from relgate.rubrics.errors import InputError

__all__ = ["read_live_ids", "read_log"]

_Row = tuple[int | None, Mapping[str, Json]]

_LOG = {
    "text": ("query", "text", "q", "query_text", "querytext", "search_term", "keyword"),
    "count": ("count", "n", "searches", "frequency", "volume"),
    "users": ("users", "sessions", "visitors"),
    "hits": ("hits", "results", "total_hits", "result_count"),
    "locale": ("locale",),
    "surface": ("surface",),
    "stratum": ("stratum", "vertical"),
    "filters": ("filters", "filter"),
}
_IDS = {
    "locator": ("locator", "url", "canonical_url", "external_id", "key"),
    "doc_id": ("doc_id", "docid", "id", "_id", "product_id"),
}


def read_log(path: str | Path) -> tuple[LogRow, ...]:
    """A query log as CSV, TSV, JSONL or a JSON list; one search a row, or one query with its count.

    Columns: the query (`query`, `text`, `q` ...), and any of `count`, `users` (or `sessions`),
    `hits` (or `results`), `locale`, `surface`, `stratum`, `filters` (a JSON object).

    Raises:
        InputError: any fault, with its line.
    """
    content = load_content(path)
    return tuple(_log_row(row, content.path, line) for line, row in _rows(content, _LOG, "text"))


def read_live_ids(path: str | Path) -> dict[str, str | None]:
    """{durable key: live id} from CSV, TSV, JSONL or JSON; an empty id says: gone.

    JSON is a list of objects, or one object `{locator: id}`.

    Columns `locator` (or `url`, `external_id` ...) and `doc_id` (or `id` ...). A catalogue that has
    both will do.

    Raises:
        InputError: any fault, with its line; a key twice with two ids.
    """
    content = load_content(path)
    if content.kind == "json" and isinstance(content.value, dict) and not _is_row(content.value):
        pairs = content.value.items()
        return {key: _text(value, f"the id of {key!r}", content.path) for key, value in pairs}
    out: dict[str, str | None] = {}
    for line, row in _rows(content, _IDS, "locator"):
        locator = as_text(row.get("locator"), "the locator", content.path)
        doc_id = _text(row.get("doc_id"), "the document id", content.path)
        if out.setdefault(locator, doc_id) != doc_id:
            raise InputError(
                f"locator {locator!r} has two ids, {out[locator]!r} and {doc_id!r}",
                path=content.path,
                line=line,
                mend="keep the live one",
            )
    return out


def _is_row(value: Mapping[str, Json]) -> bool:
    """One row of JSONL, rather than a map: it has a column for the locator."""
    return any(fold(name) in _IDS["locator"] for name in value)


def _rows(content: Content, known: Mapping[str, Sequence[str]], needed: str) -> Iterator[_Row]:
    """Each row by our names of its columns; other columns are left out."""
    for line, row in _plain_rows(content, known[needed]):
        names = {
            ours: next((name for name in row if fold(name) in theirs), None)
            for ours, theirs in known.items()
        }
        if names[needed] is None:
            raise InputError(
                f"no column for the {needed} ({'|'.join(known[needed])}); "
                f"found {', '.join(map(repr, list(row)[:12]))}",
                path=content.path,
                line=line,
                mend="rename the column",
            )
        yield line, {ours: row[name] for ours, name in names.items() if name is not None}


def _plain_rows(content: Content, wanted: Sequence[str]) -> Iterator[_Row]:
    if content.kind == "jsonl":
        yield from json_lines(content.text, content.path)
    elif isinstance(content.value, dict):  # one line of JSONL
        yield 1, content.value
    elif content.kind == "json":
        for number, entry in enumerate(as_list(content.value, "the file", content.path), start=1):
            yield None, as_object(entry, f"entry {number}", content.path)
    else:
        table = open_table(
            content.text, content.path, fits=lambda names: any(fold(n) in wanted for n in names)
        )
        for line, cells in table.rows():
            yield line, dict(zip(table.header, cells, strict=True))


def _log_row(row: Mapping[str, Json], path: str, line: int | None) -> LogRow:
    try:
        users, hits = (_whole(row.get(name), name, path) for name in ("users", "hits"))
        return LogRow(
            text=_text(row.get("text"), "the query", path) or "",
            count=_count(row.get("count"), path),
            users=users,
            hits=hits,
            locale=_text(row.get("locale"), "the locale", path),
            surface=_text(row.get("surface"), "the surface", path),
            stratum=_text(row.get("stratum"), "the stratum", path),
            filters=_filters(row.get("filters"), path),
        )
    except InputError as error:
        raise InputError(error.what, path=error.path, line=line, mend=error.mend) from error


def _text(value: Json, what: str, path: str) -> str | None:
    blank = value is None or (isinstance(value, str) and not value.strip())
    return None if blank else as_text(value, what, path)


def _number(value: Json) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _count(value: Json, path: str) -> float:
    if value is None or value == "":
        return 1.0
    number = _number(value)
    if number is None or number < 0:
        raise InputError(f"count {str(value)[:40]!r}", path=path, mend="give a number from 0 up")
    return number


def _whole(value: Json, what: str, path: str) -> int | None:
    if value is None or value == "":
        return None
    number = _number(value)
    if number is None or number < 0 or not number.is_integer():
        mend = "give a whole number from 0 up"
        raise InputError(f"{what} {str(value)[:40]!r}", path=path, mend=mend)
    return int(number)


def _filters(value: Json, path: str) -> Mapping[str, FilterValue] | None:
    if value is None or value == "":
        return None
    if isinstance(value, str):
        value = parse_json(value, path)
    filters = as_object(value, "filters", path)
    return {name: _filter_value(name, part, path) for name, part in filters.items()} or None


def _filter_value(name: str, value: Json, path: str) -> FilterValue:
    if isinstance(value, (str, int, float)):
        return value
    if isinstance(value, list) and all(isinstance(part, (str, int, float)) for part in value):
        return tuple(part for part in value if isinstance(part, (str, int, float)))
    raise InputError(
        f"filter {name!r} is neither a value nor a list of values", path=path, mend="flatten it"
    )
