"""Reads a table of queries: texts, head and critical marks, strata, weights. I/O."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from relgate.eval.files import load_content
from relgate.eval.lists.columns import fold
from relgate.eval.lists.golden import golden_value
from relgate.eval.lists.jsontext import Content, Json, as_list, as_object, as_text, json_lines
from relgate.eval.lists.table import open_table
from relgate.eval.lists.types import Query, match_key
from relgate.rubrics.errors import InputError

__all__ = ["QueryRow", "QueryTable", "golden_table", "read_queries", "tells_queries"]

_ID = ("query_id", "qid", "queryid", "id")
_TEXT = ("query", "text", "query_text", "querytext")
_OTHER = {
    "head": ("head", "is_head"),
    "critical": ("critical", "is_critical"),
    "stratum": ("stratum", "vertical"),
    "weight": ("weight", "traffic"),
    "locale": ("locale",),
    "filters": ("filters", "filter"),
    "set": ("set",),
    "expect": ("expect",),
    "need": ("need", "information_need", "narrative"),
}
_WITHIN = ("queries", "querySetQueries")  # golden sets, and OpenSearch's query sets
_OF_GOLDEN = frozenset({"judgments", "surface", "failure_mode", "tags"})  # read elsewhere
_YES = frozenset({"true", "yes", "y", "1", "x"})
_NO = frozenset({"false", "no", "n", "0"})
_NO_FILTERS = frozenset({"", "{}", "[]"})
_SETS = ("core", "challenge", "shadow")
_EXPECTED = ("non-empty", "empty", ">=1 grade>=2")


@dataclass(frozen=True, slots=True)
class QueryRow:
    """What a team says of one query.

    Attributes:
        id: the query's id; its text where the table has no ids.
        text: what the shopper types, where the table says.
        head: whether it is a head query.
        critical: whether it may never break.
        stratum: the group it is reported in, or None.
        weight: its share of traffic in any unit, 0 and up, or None.
        locale: its locale, or None.
        filters: the filters it is sent with, as text; None for none.
        set: `core`, `challenge` or `shadow`, or None.
        expect: what must come back: `non-empty`, `empty` or `>=1 grade>=2`, or None.
        need: what the shopper is after, in a sentence, for people who grade; or None.
    """

    id: str
    text: str | None = None
    head: bool = False
    critical: bool = False
    stratum: str | None = None
    weight: float | None = None
    locale: str | None = None
    filters: str | None = None
    set: str | None = None
    expect: str | None = None
    need: str | None = None


@dataclass(frozen=True, slots=True)
class QueryTable:
    """Queries in file order.

    Attributes:
        rows: one a query, no id twice.
        path: the file.
        format: what the file was taken for.
        columns: which of the known columns the file has.
        unknown: its other columns, which are passed over.
    """

    rows: tuple[QueryRow, ...]
    path: str
    format: str
    columns: tuple[str, ...]
    unknown: tuple[str, ...] = ()
    _by_id: Mapping[str, QueryRow] = field(init=False, repr=False, compare=False)
    _by_text: Mapping[str, QueryRow] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        by_text: dict[str, QueryRow] = {}
        for row in self.rows:
            if row.text is not None:
                by_text.setdefault(match_key(row.text), row)
        by_id = {match_key(row.id): row for row in self.rows}
        object.__setattr__(self, "_by_id", MappingProxyType(by_id))
        object.__setattr__(self, "_by_text", MappingProxyType(by_text))

    def __len__(self) -> int:
        return len(self.rows)

    def by_key(self, key: str) -> QueryRow | None:
        """The query with this id, else the first with this text, else None."""
        wanted = match_key(key)
        return self._by_id.get(wanted) or self._by_text.get(wanted)

    def text_of(self, query_id: str) -> str | None:
        """The text of the query with this id, where the table says."""
        row = self._by_id.get(match_key(query_id))
        return None if row is None else row.text

    def remarks(self, queries: Iterable[Query]) -> tuple[str, ...]:
        """What a report on these queries has to say of the table: what of it did not count."""
        said: list[str] = []
        if self.unknown:
            names = ", ".join(map(repr, self.unknown))
            said.append(f"the query table has columns that are not known, passed over: {names}")
        asked = list(queries)
        if asked and not any(self.by_key(q.id) or self.by_key(q.shown) for q in asked):
            said.append(f"no query of the runs stands in the query table, say {asked[0].shown!r}")
        return tuple(said)


def read_queries(path: str | Path) -> QueryTable:
    """A table of queries from CSV, TSV, JSONL or JSON.

    JSON is a list, or an object with `queries` or OpenSearch's `querySetQueries`.
    Columns: `query_id` or `id`, `query` or `text` (one of the two is enough), and any of `head`,
    `critical`, `stratum` (or `vertical`), `weight`, `locale`, `filters`, `set`, `expect`, `need`
    (or `information_need`, `narrative`). Others are passed over, and named.

    Raises:
        InputError: any fault, with its line: no query column, a mark that is neither yes nor no,
            a weight that is no number from 0 up, an unknown set or expectation, an id twice.
    """
    return _table(load_content(path))


def tells_queries(names: Iterable[str]) -> bool:
    """Whether one of the columns is what people typed, and says so by its name."""
    return any(fold(name) in _TEXT and fold(name) != "text" for name in names)


def golden_table(path: str | Path) -> QueryTable | None:
    """The query table inside a golden set; None when the file is something else.

    Raises:
        InputError: as `read_queries`.
    """
    if Path(path).suffix not in {".json", ".jsonl", ".gz"}:
        return None
    content = load_content(path)
    return None if golden_value(content) is None else _table(content)


def _table(content: Content) -> QueryTable:
    golden = golden_value(content)
    if golden is not None:  # in whichever of its two forms
        content = replace(content, kind="json", value=golden)
    rows, file_format = _rows(content)
    elsewhere = frozenset[str]() if golden is None else _OF_GOLDEN
    found: dict[str, QueryRow] = {}
    columns: dict[str, None] = {}
    unknown: dict[str, None] = {}
    for line, row in rows:
        names = _columns(tuple(row), content.path, line)
        columns |= dict.fromkeys(names)
        unknown |= dict.fromkeys(n for n in row if n not in names.values() and n not in elsewhere)
        try:
            query = _query_row({name: row[column] for name, column in names.items()}, content.path)
        except InputError as error:
            raise InputError(error.what, path=error.path, line=line, mend=error.mend) from error
        key = match_key(query.id)
        if found.setdefault(key, query) != query:
            raise InputError(
                f"query {query.id!r} stands twice with different values",
                path=content.path,
                line=line,
                mend="keep one of the two",
            )
    if not found:
        raise InputError("no query in it", path=content.path, mend="export it again")
    return QueryTable(
        tuple(found.values()), content.path, file_format, tuple(columns), tuple(unknown)
    )


def _rows(content: Content) -> tuple[Iterable[tuple[int | None, dict[str, Json]]], str]:
    if content.kind == "jsonl":
        return json_lines(content.text, content.path), "jsonl"
    if content.kind == "json":
        value = content.value
        if isinstance(value, dict):
            within = next((name for name in _WITHIN if name in value), None)
            if within is None:
                return [(1, value)], "jsonl"
            value = value[within]
        entries = enumerate(as_list(value, "queries", content.path), start=1)
        return ((None, as_object(e, f"query {n}", content.path)) for n, e in entries), "json"
    table = open_table(
        content.text, content.path, fits=lambda names: any(fold(n) in (*_ID, *_TEXT) for n in names)
    )
    _columns(table.header, content.path, table.line)
    rows: Iterable[tuple[int | None, dict[str, Json]]] = (
        (line, dict(zip(table.header, cells, strict=True))) for line, cells in table.rows()
    )
    return rows, "tsv" if table.delimiter == "\t" else "csv"


def _columns(names: Sequence[str], path: str, line: int | None) -> dict[str, str]:
    found: dict[str, str] = {}
    for canonical, accepted in {"id": _ID, "text": _TEXT, **_OTHER}.items():
        hits = [name for name in names if fold(name) in accepted]
        if len(hits) > 1:
            shown = ", ".join(map(repr, hits))
            raise InputError(
                f"columns {shown} may all be the {canonical}",
                path=path,
                line=line,
                mend="rename or drop one",
            )
        if hits:
            found[canonical] = hits[0]
    if "id" not in found and "text" not in found:
        raise InputError(
            f"no column for the query ({'|'.join(_ID)} or {'|'.join(_TEXT)}); "
            f"found {', '.join(map(repr, names[:12]))}",
            path=path,
            line=line,
            mend="rename it; a file without a header needs one: query_id, query",
        )
    return found


def _query_row(values: Mapping[str, Json], path: str) -> QueryRow:
    text = _text(values, "text", path)
    query_id = as_text(values["id"], "the query id", path) if "id" in values else text
    return QueryRow(
        id=query_id if query_id is not None else as_text(None, "the query", path),
        text=text,
        head=_mark(values.get("head"), "head", path),
        critical=_mark(values.get("critical"), "critical", path),
        stratum=_text(values, "stratum", path),
        weight=_weight(values.get("weight"), path),
        locale=_text(values, "locale", path),
        filters=_filters(values.get("filters")),
        set=_one_of(_SETS, values, "set", path),
        expect=_one_of(_EXPECTED, values, "expect", path),
        need=_text(values, "need", path),
    )


def _one_of(known: Sequence[str], values: Mapping[str, Json], name: str, path: str) -> str | None:
    value = _text(values, name, path)
    if value is not None and value not in known:
        mend = f"use {', '.join(known)}"
        raise InputError(f"{name} {value!r} is not known", path=path, mend=mend)
    return value


def _text(values: Mapping[str, Json], name: str, path: str) -> str | None:
    value = values.get(name)
    blank = value is None or (isinstance(value, str) and not value.strip())
    return None if blank else as_text(value, f"the {name}", path)


def _filters(value: Json) -> str | None:
    """Filters as a golden set or a table has them: text, an object or a list; None for none."""
    if isinstance(value, str):
        text = value.strip()
        return None if text in _NO_FILTERS else text
    if value is None or value is False or value in ({}, []):
        return None
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _mark(value: Json, name: str, path: str) -> bool:
    word = "" if value is None else str(value).strip().casefold()
    if word in _YES:
        return True
    if not word or word in _NO:
        return False
    raise InputError(
        f"{name} is {str(value)[:40]!r}, neither yes nor no", path=path, mend="use true or false"
    )


def _weight(value: Json, path: str) -> float | None:
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, (int, float, str)) and not isinstance(value, bool):
        try:
            weight = float(value)
        except (ValueError, OverflowError):
            weight = math.nan
        if math.isfinite(weight) and weight >= 0:
            return weight
    raise InputError(
        f"weight {str(value)[:40]!r} is no number from 0 up", path=path, mend="mend or drop it"
    )
