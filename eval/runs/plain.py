"""Runs as plain JSON: `{query: [ids]}`, or one `{query_id, query, docs}` a line. Pure."""

from __future__ import annotations

from pathlib import Path

from relgate.eval.lists.columns import QUERY_ID, QUERY_TEXT, fold
from relgate.eval.lists.jsontext import Content, Json, as_list, as_object, as_text, json_lines
from relgate.eval.lists.notes import Notes
from relgate.eval.lists.types import Query, match_key
from relgate.eval.runs.types import Run
from relgate.rubrics.errors import InputError

__all__ = ["is_plain_run", "is_run_row", "read_jsonl_run", "read_plain_run"]

_DOC_ID = ("doc_id", "docid", "_id", "id", "product_id")


def is_plain_run(value: Json) -> bool:
    """Whether `value` is an object whose every value is a list of ids."""
    return (
        isinstance(value, dict)
        and bool(value)
        and all(isinstance(docs, list) and all(map(_is_id, docs)) for docs in value.values())
    )


def is_run_row(value: Json) -> bool:
    """Whether `value` is one line of a JSONL run."""
    return (
        isinstance(value, dict)
        and ("docs" in value or "failure" in value)
        and any(fold(name) in (*QUERY_ID, *QUERY_TEXT) for name in value)
    )


def _is_id(value: Json) -> bool:
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def read_plain_run(value: Json, path: str, name: str | None) -> Run:
    """A run from `{query: [ids]}`, whose keys are taken as ids: whether they are texts is not said.

    Raises:
        InputError: another shape.
    """
    gathered = _Gathered(path)
    for key, entries in as_object(value, "the file", path).items():
        query = Query(as_text(key, "a query", path))
        gathered.add(query, gathered.docs_of(entries, query))
    return gathered.run(name, "json")


def read_jsonl_run(content: Content, name: str | None) -> Run:
    """A run of one `{"query_id", "query", "docs": [...], "failure"}` a line.

    `docs` holds ids, or objects with an id; null means that the hits are not known.

    Raises:
        InputError: another shape, with its line.
    """
    gathered = _Gathered(content.path)
    for line, row in json_lines(content.text, content.path):
        try:
            _add_row(gathered, row)
        except InputError as error:
            raise InputError(error.what, path=error.path, line=line, mend=error.mend) from error
    return gathered.run(name, "jsonl")


def _add_row(gathered: _Gathered, row: dict[str, Json]) -> None:
    query = _query(row, gathered.path)
    found, failure = row.get("docs"), row.get("failure")
    if "docs" not in row and failure is None:
        raise InputError("neither docs nor failure", path=gathered.path, mend="give one of them")
    gathered.add(query, None if found is None else gathered.docs_of(found, query))
    if failure is not None:
        gathered.failures[query.id] = as_text(failure, "the failure", gathered.path)


def _query(row: dict[str, Json], path: str) -> Query:
    ids = [value for key, value in row.items() if fold(key) in QUERY_ID]
    texts = [value for key, value in row.items() if fold(key) in QUERY_TEXT and value is not None]
    text = as_text(texts[0], "the query", path) if texts else None
    if ids:
        return Query(as_text(ids[0], "the query id", path), text)
    text = text or as_text(None, "the query", path)
    return Query(text, text)


class _Gathered:
    """The queries of a run, as they come in."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.failures: dict[str, str] = {}
        self._queries: dict[str, Query] = {}
        self._docs: list[tuple[str, ...] | None] = []
        self._notes = Notes()

    def add(self, query: Query, docs: tuple[str, ...] | None) -> None:
        key = match_key(query.id)
        if key in self._queries:
            raise InputError(
                f"query {query.id!r} stands twice", path=self.path, mend="keep one of the two"
            )
        self._queries[key] = query
        self._docs.append(docs)

    def docs_of(self, value: Json, query: Query) -> tuple[str, ...]:
        found: list[str] = []
        entries = as_list(value, f"the docs of {query.shown!r}", self.path)
        for number, entry in enumerate(entries, start=1):
            doc_id = entry
            if isinstance(entry, dict):
                doc_id = next((entry[name] for name in _DOC_ID if name in entry), None)
            where = f"document {number} of {query.shown!r}"
            found.append(as_text(doc_id, where, self.path))
            self._notes.look(found[-1])
        return tuple(found)

    def run(self, name: str | None, file_format: str) -> Run:
        return Run(
            name=name or Path(self.path).stem,
            queries=tuple(self._queries.values()),
            docs=tuple(self._docs),
            failures=self.failures,
            format=file_format,
            path=self.path,
            notes=self._notes.lines(),
        )
