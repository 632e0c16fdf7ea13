"""Judgment lists out of Quepid's JSON: case, ratings export, API import, snapshot. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from relgate.eval.lists.jsontext import Content, Json, as_list, as_object
from relgate.eval.lists.sink import ListFile, Options, Sink
from relgate.rubrics.errors import InputError

__all__ = ["quepid_kind", "read_quepid_json"]


def quepid_kind(value: Json) -> str | None:
    """Which of Quepid's JSON files `value` is, or None.

    `quepid-case`, `quepid-ratings` (export by query, or the body of an API import), or
    `quepid-snapshot` (which is a run).
    """
    if not isinstance(value, dict):
        return None
    queries = value.get("queries")
    if isinstance(value.get("docs"), dict) and isinstance(queries, list):
        return "quepid-snapshot"
    if isinstance(value.get("ratings"), list) and "case_id" in value:
        return "quepid-ratings"
    first = queries[0] if isinstance(queries, list) and queries else None
    if isinstance(first, dict) and "query_text" in first and "ratings" in first:
        return "quepid-case"
    if isinstance(first, dict) and "query" in first and isinstance(first.get("ratings"), dict):
        return "quepid-ratings"
    return None


def read_quepid_json(content: Content, options: Options, file_format: str) -> ListFile:
    """The ratings of a Quepid case, ratings file, or (when it is asked for) snapshot.

    Raises:
        InputError: any fault; nothing is read from a file in fault.
    """
    sink = Sink(options, content.path)
    top = as_object(content.value, "the file", content.path)
    rows = _flat(top, content.path) if "case_id" in top else _by_query(top, content.path)
    for row in rows:
        sink.add(row)
    return sink.finish(file_format)


def _flat(top: dict[str, Json], path: str) -> Iterator[dict[str, Json]]:
    for number, entry in enumerate(as_list(top.get("ratings"), "ratings", path), start=1):
        rating = as_object(entry, f"rating {number}", path)
        yield {"query": rating.get("query_text"), **_pair(rating)}


def _by_query(top: dict[str, Json], path: str) -> Iterator[dict[str, Json]]:
    for number, entry in enumerate(as_list(top.get("queries"), "queries", path), start=1):
        query = as_object(entry, f"query {number}", path)
        names: dict[str, Json] = {"query": query.get("query_text", query.get("query"))}
        if "query_id" in query:
            names["query_id"] = query["query_id"]
        yield names  # lists the query, also when nobody rated it
        for pair in _ratings(query.get("ratings"), f"the ratings of query {number}", path):
            yield names | pair


def _ratings(value: Json, where: str, path: str) -> Iterator[dict[str, Json]]:
    if isinstance(value, dict):  # {doc id: rating}
        for doc_id, rating in value.items():
            yield _needs_doc({"doc_id": doc_id, "grade": rating}, where, path)
    elif value is not None:
        for entry in as_list(value, where, path):
            yield _needs_doc(_pair(as_object(entry, where, path)), where, path)


def _pair(rating: dict[str, Json]) -> dict[str, Json]:
    return {
        "doc_id": rating.get("doc_id"),
        "grade": rating.get("rating"),
        "rater": rating.get("user_email"),
    }


def _needs_doc(pair: dict[str, Json], where: str, path: str) -> dict[str, Json]:
    if pair["doc_id"] is None or pair["doc_id"] == "":
        raise InputError(
            f"{where} hold one without a document id", path=path, mend="export it again"
        )
    return pair
