"""Judgment lists out of an Elasticsearch or OpenSearch `_rank_eval` request. Pure."""

from __future__ import annotations

from relgate.eval.lists.jsontext import Content, Json, as_list, as_object, as_text
from relgate.eval.lists.sink import ListFile, Options, Sink

__all__ = ["is_rank_eval_request", "read_rank_eval_request"]


def is_rank_eval_request(value: Json) -> bool:
    """Whether `value` is the body of a `_rank_eval` request."""
    return isinstance(value, dict) and isinstance(value.get("requests"), list)


def read_rank_eval_request(content: Content, options: Options) -> ListFile:
    """The ratings of all `requests[]`, keyed by request id; indices are noted when several.

    Raises:
        InputError: any fault; nothing is read from a file in fault.
    """
    path = content.path
    sink = Sink(options, path)
    indices: set[str] = set()
    top = as_object(content.value, "the file", path)
    for number, entry in enumerate(as_list(top.get("requests"), "requests", path), start=1):
        request = as_object(entry, f"request {number}", path)
        query_id = as_text(request.get("id"), f"the id of request {number}", path)
        sink.add({"query_id": query_id})
        where = f"the ratings of request {query_id!r}"
        for item in as_list(request.get("ratings", []), where, path):
            rating = as_object(item, where, path)
            doc_id = as_text(rating.get("_id"), f"an _id in {where}", path)
            indices.add(str(rating.get("_index")))
            sink.add({"query_id": query_id, "doc_id": doc_id, "grade": rating.get("rating")})
    if len(indices) > 1:
        sink.notes.add(
            "file(s) rate documents of several indices as one", ", ".join(sorted(indices))
        )
    return sink.finish("rank-eval-request")
