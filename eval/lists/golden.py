"""Judgment lists out of a golden set. Pure.

The whole set, with its expectations and strata, is read by `relgate.eval.golden`; here its grades
are taken as a list like any other.
"""

from __future__ import annotations

from relgate.eval.lists.jsontext import Content, Json, as_list, as_object
from relgate.eval.lists.sink import ListFile, Options, Sink
from relgate.eval.lists.types import Source

__all__ = ["is_golden", "read_golden_list"]


def is_golden(value: Json) -> bool:
    """Whether `value` is a golden set: a version, and queries of which one has judgments."""
    if not isinstance(value, dict) or "version" not in value:
        return False
    queries = value.get("queries")
    return isinstance(queries, list) and any(
        isinstance(query, dict) and "judgments" in query for query in queries
    )


def read_golden_list(content: Content, options: Options) -> ListFile:
    """The judgments of a golden set, of all its queries; a judgment without an id is noted.

    A rater's grade is a person's.

    Raises:
        InputError: any fault; nothing is read from a file in fault.
    """
    path = content.path
    sink = Sink(options, path)
    top = as_object(content.value, "the golden set", path)
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
