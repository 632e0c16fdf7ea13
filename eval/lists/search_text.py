"""The text that was typed, out of a search request's body or its template's parameters. Pure.

A body does not say which of its texts somebody typed. It is read where there is no choice: every
full-text clause holds the same text. Filters and what must not match are no text that was typed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from relgate.eval.lists.jsontext import Json, parse_json
from relgate.rubrics.errors import InputError

__all__ = ["SearchText", "search_text", "templates_of"]

# Clauses of Elasticsearch and OpenSearch that hold a typed text, and the key that it stands under:
# beside the fields, or inside the one field that is named.
_BESIDE = {
    "multi_match": "query",
    "combined_fields": "query",
    "simple_query_string": "query",
    "query_string": "query",
    "semantic": "query",
    "sparse_vector": "query",
    "text_embedding": "model_text",
}
_INSIDE = {
    "match": "query",
    "match_phrase": "query",
    "match_phrase_prefix": "query",
    "match_bool_prefix": "query",
    "neural": "query_text",
    "neural_sparse": "query_text",
    "text_expansion": "model_text",
}
_QUERY_LANGUAGE = frozenset({"query_string", "simple_query_string"})
_OPERATORS = re.compile(r'[:()"*~^|\\\[\]{}]|(?:^|\s)[-+]|(?:^|\s)(?:AND|OR|NOT)(?:\s|$)')
_NOT_TYPED = frozenset({"filter", "must_not", "post_filter", "negative"})
_PARAMETERS = (
    "query", "query_string", "query_text", "querytext", "q", "text", "keywords", "keyword",
    "search", "search_text", "search_query", "search_term", "search_terms", "user_query",
)  # fmt: skip
_HOLE = re.compile(r"\{\{\{?\s*([\w.-]+)\s*\}?\}\}")


@dataclass(frozen=True, slots=True)
class SearchText:
    """What a request says of the text that was typed.

    Attributes:
        text: the text; None where the request does not tell.
        source: where it was read, `a match clause`; None where it was not.
        unclear: why a text that is there was not read; None where there is none.
    """

    text: str | None = None
    source: str | None = None
    unclear: str | None = None


def templates_of(top: Mapping[str, Json]) -> dict[str, Json]:
    """{id: source} of the search templates that stand in a `_rank_eval` request."""
    out: dict[str, Json] = {}
    listed = top.get("templates")
    for entry in listed if isinstance(listed, list) else ():
        template = entry.get("template") if isinstance(entry, dict) else None
        if isinstance(entry, dict) and isinstance(template, dict):
            out[str(entry.get("id"))] = _parsed(template.get("source"))
    return out


def _parsed(source: Json) -> Json:
    """A template that is written as text, where it is JSON all the same."""
    if not isinstance(source, str):
        return source
    try:
        return parse_json(source, "a template")
    except InputError:
        return None


def search_text(request: Mapping[str, Json], templates: Mapping[str, Json]) -> SearchText:
    """The text of one entry of a `_rank_eval` request's `requests`.

    Args:
        request: the entry.
        templates: of `templates_of`.
    """
    params = request.get("params")
    if not isinstance(params, dict):
        return _of_clauses(request.get("request"), {})
    template = templates.get(str(request.get("template_id")))
    found = _of_clauses(template, params)
    return _of_parameters(params) if found == SearchText() else found


def _of_parameters(params: Mapping[str, Json]) -> SearchText:
    """By their names alone, for a template that the engine keeps."""
    named = {n: v for n, v in params.items() if n.casefold() in _PARAMETERS and _is_text(v)}
    if len(set(map(str, named.values()))) == 1:
        name, value = next(iter(named.items()))
        return SearchText(str(value), f"the template parameter {name!r}")
    return SearchText(unclear="several of its parameters may be it" if named else None)


def _of_clauses(body: Json, params: Mapping[str, Json]) -> SearchText:
    found: dict[str, SearchText] = {}
    for clause, text in _clauses(body):
        filled, names = _filled(text, params)
        if filled is None:
            return SearchText(unclear=f"its {clause} clause is a template that cannot be filled")
        if clause in _QUERY_LANGUAGE and _OPERATORS.search(filled):
            return SearchText(unclear=f"its {clause} clause holds operators")
        said = f"a {clause} clause"
        if names:
            said = f"the template parameter {' and '.join(map(repr, names))}"
        found.setdefault(" ".join(filled.casefold().split()), SearchText(filled, said))
    if len(found) == 1:
        return next(iter(found.values()))
    return SearchText(unclear="its clauses hold several texts" if found else None)


def _clauses(body: Json) -> Iterator[tuple[str, str]]:
    """(clause, text) of each full-text clause that is not a filter."""
    if isinstance(body, list):
        for part in body:
            yield from _clauses(part)
    if not isinstance(body, dict):
        return
    for name, value in body.items():
        if name in _NOT_TYPED:
            continue
        if not isinstance(value, dict) or (name not in _BESIDE and name not in _INSIDE):
            yield from _clauses(value)
            continue
        texts = [value.get(_BESIDE[name])] if name in _BESIDE else _of_fields(name, value)
        yield from ((name, text) for text in texts if isinstance(text, str) and text)


def _of_fields(clause: str, fields: Mapping[str, Json]) -> Iterator[Json]:
    for field in fields.values():
        yield field.get(_INSIDE[clause]) if isinstance(field, dict) else field


def _is_text(value: Json) -> bool:
    return isinstance(value, str) and value != ""


def _filled(text: str, params: Mapping[str, Json]) -> tuple[str | None, list[str]]:
    """The text with its parameters in it, and their names; None where one is not a text."""
    names = list(dict.fromkeys(_HOLE.findall(text)))
    if not all(_is_text(params.get(name)) for name in names):
        return None, names
    if "{{" in _HOLE.sub("", text):  # a section, a function: more than a place for a value
        return None, names
    return _HOLE.sub(lambda match: str(params[match[1]]), text), names
