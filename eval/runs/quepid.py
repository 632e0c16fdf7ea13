"""Runs out of Quepid snapshots. Pure."""

from __future__ import annotations

from pathlib import Path

from relgate.eval.lists.jsontext import Json, as_list, as_object, as_text
from relgate.eval.lists.notes import Notes
from relgate.eval.lists.types import Query, match_key
from relgate.eval.runs.types import Run
from relgate.rubrics.errors import InputError

__all__ = ["read_quepid_snapshot"]


def read_quepid_snapshot(value: Json, path: str, name: str | None) -> Run:
    """The documents that each query returned; entries that are only rated are left out.

    The snapshot's ratings are not read, nor its scores: they were computed from ratings that may
    have been edited since.

    Raises:
        InputError: a part of the snapshot has another shape.
    """
    top = as_object(value, "the file", path)
    texts = _texts(top, path)
    notes = Notes()
    found = as_object(top.get("docs"), "docs", path)
    docs = {match_key(key): _docs(entries, key, path, notes) for key, entries in found.items()}
    queries = dict(texts)
    for key in found:
        if match_key(key) not in queries:
            queries[match_key(key)] = Query(key)
            notes.add("query id(s) have results but no text", key)
    for key, query in queries.items():
        if key not in docs:
            notes.add("queries have no entry in docs", query.shown)
    own = top.get("name")
    return Run(
        name=name or (own if isinstance(own, str) and own else Path(path).stem),
        queries=tuple(queries.values()),
        docs=tuple(docs.get(key) for key in queries),
        format="quepid-snapshot",
        path=path,
        notes=notes.lines(),
    )


def _texts(top: dict[str, Json], path: str) -> dict[str, Query]:
    queries: dict[str, Query] = {}
    for number, entry in enumerate(as_list(top.get("queries"), "queries", path), start=1):
        query = as_object(entry, f"query {number}", path)
        query_id = as_text(query.get("query_id"), f"the query_id of query {number}", path)
        text = as_text(query.get("query_text"), f"the query_text of query {number}", path)
        if match_key(query_id) in queries:
            raise InputError(
                f"query_id {query_id!r} stands twice in queries", path=path, mend="export it again"
            )
        queries[match_key(query_id)] = Query(query_id, text)
    return queries


def _docs(entries: Json, key: str, path: str, notes: Notes) -> tuple[str, ...]:
    where = f"a document of query {key!r}"
    returned: list[str] = []
    for item in as_list(entries, f"docs of query {key!r}", path):
        entry = as_object(item, where, path)
        doc_id = as_text(entry.get("id"), f"the id of {where}", path)
        if entry.get("rated_only") is True:
            notes.add("entries are only rated, not returned; left out", doc_id)
        else:
            notes.look(doc_id)
            returned.append(doc_id)
    return tuple(returned)
