"""Rating files of the Rated Ranking Evaluator: topics and groups, or flat as Quepid's. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from relgate.eval.lists.jsontext import Content, Json, as_list, as_object
from relgate.eval.lists.sink import ListFile, Options, Sink
from relgate.rubrics.errors import InputError

__all__ = ["is_rre", "read_rre"]

_PARTS = ("topics", "query_groups", "queries")
_DOCS = "relevant_documents"
_QUERY = "$query"


def is_rre(value: Json) -> bool:
    """Whether `value` is a rating file: topics, groups, or queries with placeholders."""
    if not isinstance(value, dict):
        return False
    if any(isinstance(value.get(name), list) for name in _PARTS[:2]):
        return True
    queries = value.get("queries")
    first = queries[0] if isinstance(queries, list) and queries else None
    return isinstance(first, dict) and "placeholders" in first


def read_rre(content: Content, options: Options) -> ListFile:
    """The ratings of every query; those of one group share its documents.

    A query's own `relevant_documents` replace its group's. Documents that the file does not name
    stay unrated: RRE itself scores them with a default gain.

    Raises:
        InputError: any fault; nothing is read from a file in fault.
    """
    sink = Sink(options, content.path)
    for query, docs in _queries(as_object(content.value, "the file", content.path), content.path):
        text = _text(query, sink)
        sink.add({"query": text})
        for doc_id, grade in _pairs(query.get(_DOCS, docs), str(text), content.path):
            if not doc_id:
                raise InputError(
                    f"{_DOCS} of {text!r} hold one without an id",
                    path=content.path,
                    mend="fill it in, or drop the entry",
                )
            sink.add({"query": text, "doc_id": doc_id, "grade": grade})
    return sink.finish("rre")


def _queries(node: dict[str, Json], path: str) -> Iterator[tuple[dict[str, Json], Json]]:
    """Each query with its group's documents, whatever levels there are above it."""
    level = next((name for name in _PARTS if name in node), None)
    if level is None:
        raise InputError(
            f"no {', '.join(_PARTS)} in it, or in a part of it", path=path, mend="export it again"
        )
    for number, entry in enumerate(as_list(node[level], level, path), start=1):
        part = as_object(entry, f"{level} entry {number}", path)
        if level == "queries":
            yield part, node.get(_DOCS)
        else:
            yield from _queries(part, path)


def _text(query: dict[str, Json], sink: Sink) -> Json:
    """The query's text: `$query`, or the only placeholder there is, which is noted."""
    holders = as_object(query.get("placeholders"), "placeholders", sink.path)
    if _QUERY in holders:
        return holders[_QUERY]
    if len(holders) != 1:
        raise InputError(
            f"placeholders {', '.join(map(repr, holders))} of a query hold no {_QUERY!r}",
            path=sink.path,
            mend=f"name the one that is the query {_QUERY!r}",
        )
    name, value = next(iter(holders.items()))
    sink.notes.add(f"queries have no placeholder {_QUERY}; their only one was taken", name)
    return value


def _pairs(value: Json, text: str, path: str) -> Iterator[tuple[Json, Json]]:
    """`{"p1": {"gain": 3}}` or `{"3": ["p1"]}`: the value's shape tells which."""
    where = f"{_DOCS} of {text!r}"
    for key, entry in as_object({} if value is None else value, where, path).items():
        if isinstance(entry, list):
            yield from ((doc_id, key) for doc_id in entry)
        elif isinstance(entry, dict):
            yield key, entry.get("gain", entry.get("rating"))
        else:
            yield key, entry
