"""Judgment lists out of a golden set. Pure.

The whole set, with its expectations and strata, is read by `relgate.eval.golden`; here its grades
are taken as a list like any other.
"""

from __future__ import annotations

from relgate.eval.lists.jsontext import Content, Json, as_list, as_object, json_lines
from relgate.eval.lists.sink import ListFile, Options, Sink
from relgate.eval.lists.types import Source

__all__ = ["golden_value", "read_golden_list"]


def golden_value(content: Content) -> dict[str, Json] | None:
    """The golden set in a file as one JSON value, or None when it holds something else.

    A golden set has a version, and queries of which one has judgments; as JSONL the version stands
    first, and then a query a line.
    """
    if content.kind == "jsonl":
        (_, head), *rows = json_lines(content.text, content.path)
        queries: list[Json] = [row for _, row in rows]
        value: Json = {**head, "queries": queries} if "id" not in head else None
    else:
        value = content.value
    if not isinstance(value, dict) or "version" not in value:
        return None
    found = value.get("queries")
    holds = isinstance(found, list) and any(isinstance(q, dict) and "judgments" in q for q in found)
    return value if holds else None


def read_golden_list(content: Content, options: Options) -> ListFile:
    """The judgments of a golden set, of all its queries; a judgment without an id is noted.

    A rater's grade is a person's.

    Raises:
        InputError: any fault; nothing is read from a file in fault.
    """
    path = content.path
    sink = Sink(options, path)
    top = as_object(golden_value(content), "the golden set", path)
    for number, entry in enumerate(as_list(top.get("queries"), "queries", path), start=1):
        query = as_object(entry, f"query {number}", path)
        names: dict[str, Json] = {"query_id": query.get("id"), "query": query.get("text")}
        sink.add(names)
        where = f"the judgments of query {query.get('id')!r}"
        for item in as_list(query.get("judgments", []), where, path):
            judgment = as_object(item, where, path)
            if judgment.get("doc_id") is None:
                what = "judgment(s) left out: their locator is not resolved (golden resolve)"
                sink.notes.add(what, str(judgment.get("locator")))
                continue
            rated = judgment.get("rater") is not None or bool(judgment.get("ratings"))
            sink.add(
                names
                | {
                    "doc_id": judgment["doc_id"],
                    "grade": judgment.get("grade"),
                    "rater": judgment.get("rater"),
                    "judged_at": judgment.get("rated_at"),
                    "reason": judgment.get("note"),
                    "source": Source.HUMAN.value if rated else None,
                }
            )
    return sink.finish("golden")
