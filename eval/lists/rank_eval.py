"""Judgment lists out of an Elasticsearch or OpenSearch `_rank_eval` request. Pure."""

from __future__ import annotations

from relgate.eval.lists.jsontext import Content, Json, as_list, as_object, as_text
from relgate.eval.lists.keys import match_key
from relgate.eval.lists.search_text import search_text, templates_of
from relgate.eval.lists.sink import ListFile, Options, Sink

__all__ = ["is_rank_eval_request", "read_rank_eval_request"]


def is_rank_eval_request(value: Json) -> bool:
    """Whether `value` is the body of a `_rank_eval` request."""
    return isinstance(value, dict) and isinstance(value.get("requests"), list)


def read_rank_eval_request(content: Content, options: Options) -> ListFile:
    """The ratings of all `requests[]`, keyed by request id; indices are noted when several.

    The text that was typed is read out of each request where that leaves no choice; it is noted
    where it was read, and where there was a choice.

    Raises:
        InputError: any fault; nothing is read from a file in fault.
    """
    path = content.path
    sink = Sink(options, path)
    indices: set[str] = set()
    top = as_object(content.value, "the file", path)
    templates = templates_of(top)
    for number, entry in enumerate(as_list(top.get("requests"), "requests", path), start=1):
        request = as_object(entry, f"request {number}", path)
        query_id = as_text(request.get("id"), f"the id of request {number}", path)
        names: dict[str, Json] = {
            "query_id": query_id,
            "query": _text(request, query_id, templates, sink),
        }
        sink.add(names)
        where = f"the ratings of request {query_id!r}"
        for item in as_list(request.get("ratings", []), where, path):
            rating = as_object(item, where, path)
            doc_id = options.doc_ids.of(rating, where, path)
            indices.add(options.doc_ids.index(str(rating.get("_index"))))
            sink.add(names | {"doc_id": doc_id, "grade": rating.get("rating")})
    if len(indices) > 1 and not options.doc_ids.composite:
        sink.notes.add(
            "file(s) rate documents of several indices as one", ", ".join(sorted(indices))
        )
    return sink.finish("rank-eval-request")


def _text(
    request: dict[str, Json], query_id: str, templates: dict[str, Json], sink: Sink
) -> str | None:
    """The query's text, with a note on where it was read or why it was not."""
    found = search_text(request, templates)
    if found.unclear is not None:
        what = f"request(s) whose query text was not read: {found.unclear}; give it with --queries"
        sink.notes.add(what, query_id)
    elif found.text is not None and match_key(found.text) != match_key(query_id):
        sink.notes.add(f"query text(s) read from {found.source} of the request", found.text)
    return found.text
