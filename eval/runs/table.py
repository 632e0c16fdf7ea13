"""Runs as a table, one row a document: CSV of any delimiter, Quepid's snapshot export. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from relgate.eval.lists.columns import DOC_ID, QUERY_ID, QUERY_TEXT, fold
from relgate.eval.lists.csv_list import cell_value
from relgate.eval.lists.jsontext import Content, Json, as_text
from relgate.eval.lists.notes import Notes
from relgate.eval.lists.table import open_table
from relgate.eval.lists.types import Query, match_key
from relgate.eval.runs.clean import Order, Ranked, clean_run_table
from relgate.eval.runs.types import Run
from relgate.rubrics.errors import InputError

__all__ = [
    "RunTable",
    "csv_run_table",
    "is_run_header",
    "looks_like_run_table",
    "read_table_run",
    "run_columns",
    "several_runs",
]

_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "query_id": QUERY_ID,
    "query": QUERY_TEXT,
    "doc_id": DOC_ID,
    "rank": ("rank", "position", "doc_position"),
    "score": ("score",),
    "run": ("run", "run_id", "runid", "run_name", "snapshot", "snapshot_name", "system"),
}
_SHOWN_RUNS = 3


def is_run_header(names: Sequence[str]) -> bool:
    """Whether `names` hold a query, a document, and what orders them."""
    folded = set(map(fold, names))
    has = {part: bool(folded & set(known)) for part, known in _COLUMNS.items()}
    return (has["query_id"] or has["query"]) and has["doc_id"] and (has["rank"] or has["score"])


def looks_like_run_table(content: Content) -> bool:
    """Whether the first line is the header of a run."""
    return is_run_header(open_table(content.head, content.path, fits=is_run_header).header)


@dataclass(frozen=True, slots=True)
class RunTable:
    """A table, and the two ways through it.

    Attributes:
        path: the file, for messages.
        format: what the file was taken for.
        names: its columns.
        clean: the fast way, given {part: column} and what gives the order.
        rows: each row's line and values by column.
    """

    path: str
    format: str
    names: Sequence[str]
    clean: Callable[[Mapping[str, str], Order], Ranked | None]
    rows: Iterable[tuple[int, Mapping[str, Json]]]


def csv_run_table(content: Content) -> RunTable:
    """Delimited text as a table of a run."""
    table = open_table(content.header_text, content.path, fits=is_run_header)
    clean = partial(clean_run_table, content.raw, table)
    return RunTable(content.path, "csv", table.header, clean, _csv_rows(content))


def _csv_rows(content: Content) -> Iterator[tuple[int, Mapping[str, Json]]]:
    table = open_table(content.text, content.path, fits=is_run_header)
    names = [(name, fold(name)) for name in table.header]
    for line, cells in table.rows():
        yield line, {n: cell_value(f, c) for (n, f), c in zip(names, cells, strict=True)}


@dataclass(slots=True)
class _Found:
    """The documents of one query as they come in, and their texts' first."""

    query: Query
    docs: list[tuple[float, str]] = field(default_factory=list[tuple[float, str]])


def read_table_run(
    table: RunTable, *, name: str | None, only: str | None = None, notes: Notes | None = None
) -> Run:
    """A run out of the rows of a table.

    The rank column gives the order; without one the score, falling, equal scores in the file's
    order; without either the file's order, which is noted. A row without a document lists its
    query.

    Args:
        table: the table.
        name: how reports call the run; None is the name in the file, or the file's own.
        only: the one to take, where the table holds several runs.
        notes: takes what is odd in it beside what is there already; None begins anew.

    Raises:
        InputError: a missing or doubled column, a rank twice, an order that is no number, or
            several runs of which none is named.
    """
    places = run_columns(table.names, table.path)
    order: Order = "rank" if "rank" in places else "score" if "score" in places else None
    notes = Notes() if notes is None else notes
    found = table.clean(
        {p: n for p, n in places.items() if p not in {"rank", "score"} - {order}}, order
    )
    if found is None or len(found.names) > 1 or (only is not None and found.names != (only,)):
        found = _careful(table, _Reader(table.path, places, order, notes), only)
    for query in found.tied:
        notes.add("queries have equal scores; they keep the file's order", query)
    if order is None:
        notes.once("column(s) of rank or score missing; the file's order is taken", "rank")
    return Run(
        name=name or next(iter(found.names), Path(table.path).stem),
        queries=found.queries,
        docs=found.docs,
        format=table.format,
        path=table.path,
        notes=notes.lines(),
    )


def _careful(table: RunTable, reader: _Reader, only: str | None) -> Ranked:
    which = reader.places.get("run", "")
    for line, row in table.rows:
        run = row.get(which)
        if only is not None and run != only:
            reader.skipped = True
            continue
        reader.runs.setdefault(run)
        try:
            reader.add(row)
        except InputError as error:
            raise InputError(error.what, path=table.path, line=line, mend=error.mend) from error
    return reader.ranked(only)


def run_columns(names: Sequence[str], path: str) -> dict[str, str]:
    """Which column of a run is what: `{query_id, query, doc_id, rank, score, run: its name}`.

    Raises:
        InputError: a needed column is missing, or two columns would serve as one.
    """
    places: dict[str, str] = {}
    for part, known in _COLUMNS.items():
        found = [name for name in names if fold(name) in known]
        if len(found) > 1:
            raise InputError(
                f"columns {', '.join(map(repr, found))} may all be the {part}",
                path=path,
                mend="rename or drop one",
            )
        if found:
            places[part] = found[0]
    if "doc_id" not in places or not {"query", "query_id"} & set(places):
        raise InputError(
            f"no column for the query or the document; found {', '.join(map(repr, names[:12]))}",
            path=path,
            mend="rename the columns",
        )
    return places


def several_runs(names: Sequence[Json], path: str) -> InputError:
    """What is said of a table that holds runs of several names."""
    shown = ", ".join(map(repr, names[:_SHOWN_RUNS]))
    return InputError(
        f"{len(names)} runs in it ({shown} ...)",
        path=path,
        mend="take one out: relgate convert FILE --run --only NAME --to jsonl --out OUT",
    )


class _Reader:
    def __init__(self, path: str, places: dict[str, str], order: Order, notes: Notes) -> None:
        self.path = path
        self.places = places
        self.skipped = False
        self.runs: dict[Json, None] = {}
        self._notes = notes
        self._found: dict[str, _Found] = {}
        self._order = order

    def add(self, row: Mapping[str, Json]) -> None:
        query = self._query(row)
        key = match_key(query.id)
        found = self._found.setdefault(key, _Found(query))
        if query.text is not None and found.query.text != query.text:
            if found.query.text is not None:
                raise InputError(
                    f"query {query.id!r} has two texts: {found.query.text!r} and {query.text!r}",
                    mend="give each query an id of its own",
                )
            found.query = query
        value = row[self.places["doc_id"]]
        if value is None or value == "":
            return
        doc_id = as_text(value, "the document id", self.path)
        self._notes.look(doc_id)
        found.docs.append((self._place(row, len(found.docs)), doc_id))

    def _query(self, row: Mapping[str, Json]) -> Query:
        parts = {p: row[self.places[p]] for p in ("query_id", "query") if p in self.places}
        text = parts.get("query")
        words = None if text is None or text == "" else as_text(text, "the query", self.path)
        if "query_id" in parts:
            value = parts["query_id"]
            return Query(as_text("" if value is None else value, "the query id", self.path), words)
        words = words or as_text("", "the query", self.path)
        return Query(words, words)

    def _place(self, row: Mapping[str, Json], count: int) -> float:
        """What a document is sorted by, the least first."""
        if self._order is None:
            return count
        value = row[self.places[self._order]]
        try:
            number = float(value) if isinstance(value, (str, int, float)) else math.nan
        except ValueError:
            number = math.nan
        if not math.isfinite(number) or isinstance(value, bool):
            raise InputError(
                f"{self._order} {str(value)[:40]!r} is no number",
                mend="mend it: it gives the order",
            )
        return number if self._order == "rank" else -number

    def ranked(self, only: str | None) -> Ranked:
        if not self._found:
            raise InputError(
                f"no row of the run {only!r}" if self.skipped else "no row below the header",
                path=self.path,
                mend="name a run that is in it" if self.skipped else "export it again",
            )
        if len(self.runs) > 1:
            raise several_runs(list(self.runs), self.path)
        return Ranked(
            queries=tuple(found.query for found in self._found.values()),
            docs=tuple(map(self._sorted, self._found.values())),
            tied=tuple(f.query.shown for f in self._found.values() if _has_equals(f)),
            names=tuple(name for name in self.runs if isinstance(name, str)),
        )

    def _sorted(self, found: _Found) -> tuple[str, ...]:
        if self._order == "rank" and _has_equals(found):
            raise InputError(
                f"query {found.query.shown!r} has two documents of one rank",
                path=self.path,
                mend="give each a rank of its own",
            )
        return tuple(doc_id for _, doc_id in sorted(found.docs, key=lambda entry: entry[0]))


def _has_equals(found: _Found) -> bool:
    return len({place for place, _ in found.docs}) < len(found.docs)
