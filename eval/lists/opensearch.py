"""Judgment lists of OpenSearch's Search Relevance Workbench: import body, stored output. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal, InvalidOperation

from relgate.eval.lists.jsontext import Content, Json, as_list, as_object
from relgate.eval.lists.sink import ListFile, Options, Sink
from relgate.rubrics.errors import InputError

__all__ = ["is_opensearch_judgments", "read_opensearch"]

_RATINGS = "judgmentRatings"
_DONE = (None, "COMPLETED")
_BY_JUDGE = "LLM_JUDGMENT"


def is_opensearch_judgments(value: Json) -> bool:
    """Whether `value` holds `judgmentRatings`: bare, in `_source`, or in the hits of a GET."""
    return isinstance(value, dict) and any(_RATINGS in source for source in _sources(value))


def _sources(top: dict[str, Json]) -> Iterator[dict[str, Json]]:
    hits = top.get("hits")
    entries = hits.get("hits") if isinstance(hits, dict) else [top]
    for entry in entries if isinstance(entries, list) else []:
        source = entry.get("_source", entry) if isinstance(entry, dict) else None
        if isinstance(source, dict):
            yield source


def read_opensearch(content: Content, options: Options) -> ListFile:
    """The ratings of one judgment list, keyed by query text.

    Ratings are decimal text; whether they are grades, gains or click rates is for the scale to
    say. Those of `LLM_JUDGMENT` are a judge's, and run from 0 to 1. What a judge failed on is
    counted, not graded.

    Raises:
        InputError: any fault, several lists in one file, or a judge's ratings from 0 to 1 on a
            scale of more grades.
    """
    path = content.path
    found = [s for s in _sources(as_object(content.value, "the file", path)) if _RATINGS in s]
    if len(found) != 1:
        raise InputError(
            f"{len(found)} judgment lists in it", path=path, mend="keep one of them in the file"
        )
    (source,) = found
    sink = Sink(options, path)
    _look(source, sink)
    who: dict[str, Json] = {}
    if source.get("type") == _BY_JUDGE:
        _refuse_grades(source, options, path)
        who["source"] = "judge"
    for number, entry in enumerate(as_list(source[_RATINGS], _RATINGS, path), start=1):
        query = as_object(entry, f"{_RATINGS} entry {number}", path)
        text = query.get("query")
        sink.add({"query": text})
        for rating in _entries(query, "ratings", number, path):
            sink.add({"query": text, "doc_id": _doc(rating, number, path), **_grade(rating), **who})
        for failure in _entries(query, "failures", number, path):
            doc_id = _doc(failure, number, path)
            sink.notes.add("pair(s) failed when the list was made; ungraded", str(doc_id))
            sink.add({"query": text, "doc_id": doc_id})
    return sink.finish("opensearch")


def _refuse_grades(source: dict[str, Json], options: Options, path: str) -> None:
    """OpenSearch's judge rates from 0 to 1: read as grades, its best would be the next to worst."""
    scale = options.scale
    if scale.values or scale.max_grade <= 1:
        return
    ratings = [
        str(rating.get("rating"))
        for number, entry in enumerate(as_list(source[_RATINGS], _RATINGS, path), start=1)
        for rating in _entries(as_object(entry, _RATINGS, path), "ratings", number, path)
    ]
    if ratings and not any(map(_above_one, ratings)):
        raise InputError(
            f"no rating of this {_BY_JUDGE} is above 1, since OpenSearch's judge rates from 0 to "
            f"1; on the scale {scale.name} its best would be grade 1 of {scale.max_grade}",
            path=path,
            mend="--scale 0-1 reads ratings of 0 and 1; for others map them to grades first",
        )


def _above_one(rating: str) -> bool:
    try:
        return Decimal(rating) > 1
    except InvalidOperation:
        return False


def _look(source: dict[str, Json], sink: Sink) -> None:
    status = source.get("status")
    if status not in _DONE:
        sink.notes.add("list(s) not completed when exported", str(status))


def _entries(query: dict[str, Json], name: str, number: int, path: str) -> list[dict[str, Json]]:
    where = f"the {name} of {_RATINGS} entry {number}"
    return [as_object(e, where, path) for e in as_list(query.get(name) or [], where, path)]


def _grade(rating: dict[str, Json]) -> dict[str, Json]:
    return {"grade": rating.get("rating")}


def _doc(rating: dict[str, Json], number: int, path: str) -> Json:
    doc_id = rating.get("docId")
    if doc_id is None or doc_id == "":
        raise InputError(
            f"{_RATINGS} entry {number} holds one without a docId",
            path=path,
            mend="export it again",
        )
    return doc_id
