"""Fills a request template: `{text}`, `{filters}`, `{locale}` ... in strings of any JSON. Pure.

A string that is one placeholder alone becomes the value itself, of whatever kind; a key or a list
entry whose value is not known (a query without a locale) is left out. `{filters:terms}` gives the
filters as Elasticsearch's list of term clauses. `{{` and `}}` stand for braces.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import cast

from relgate.eval.harness.types import Call
from relgate.eval.lists.jsontext import Json
from relgate.rubrics.errors import InputError

__all__ = ["check_template", "fill", "fill_text", "merged"]

_HOLE = re.compile(r"\{\{|\}\}|\{([a-z_]+(?::[a-z]+)?)\}")
_GONE = object()


def _terms(call: Call) -> Json:
    return [
        {"terms": {name: value}} if isinstance(value, list) else {"term": {name: value}}
        for name, value in _plain(call).items()
    ]


def _filters(call: Call) -> Json:
    return _plain(call) or None


def _plain(call: Call) -> dict[str, Json]:
    """The filters as JSON values."""
    return {
        name: list(cast("Iterable[Json]", value)) if isinstance(value, (list, tuple)) else value
        for name, value in call.filters.items()
    }


_VALUES: Mapping[str, Callable[[Call], Json]] = MappingProxyType(
    {
        "text": lambda call: call.text,
        "size": lambda call: call.size,
        "filters": _filters,
        "filters:terms": _terms,
        "locale": lambda call: call.locale,
        "surface": lambda call: call.surface,
        "query_id": lambda call: call.query_id,
        "seed": lambda call: call.seed,
    }
)


def check_template(template: Json, where: str, path: str) -> None:
    """Refuses a placeholder that is not known.

    Raises:
        InputError: it names `where` it stands.
    """
    if isinstance(template, dict):
        for name, value in template.items():
            check_template(value, f"{where}.{name}", path)
    elif isinstance(template, list):
        for value in template:
            check_template(value, where, path)
    elif isinstance(template, str):
        for match in _HOLE.finditer(template):
            if match[1] is not None and match[1] not in _VALUES:
                raise InputError(
                    f"{where}: no placeholder {match[0]}",
                    path=path,
                    mend=f"known are {', '.join(f'{{{name}}}' for name in _VALUES)}; "
                    "write {{ for a brace",
                )


def fill(template: Json, call: Call) -> Json:
    """The template with its values; None where all of it is one value that is not known."""
    found = _fill(template, call)
    return None if found is _GONE else found  # type: ignore[return-value]


def _fill(template: Json, call: Call) -> object:
    if isinstance(template, dict):
        pairs = ((name, _fill(value, call)) for name, value in template.items())
        return {name: value for name, value in pairs if value is not _GONE}
    if isinstance(template, list):
        return [value for part in template if (value := _fill(part, call)) is not _GONE]
    if not isinstance(template, str):
        return template
    whole = _HOLE.fullmatch(template)
    if whole is not None and whole[1] is not None:
        value = _VALUES[whole[1]](call)
        return _GONE if value is None else value
    return fill_text(template, call)


def fill_text(template: str, call: Call, quote: Callable[[str], str] = str) -> str:
    """A text with its values in it; a value that is not known is empty."""

    def value(match: re.Match[str]) -> str:
        if match[1] is None:
            return match[0][0]
        found = _VALUES[match[1]](call)
        return "" if found is None else quote(str(found))

    return _HOLE.sub(value, template)


def merged(base: Json, over: Json) -> Json:
    """`base` with `over` on top: objects are merged key by key, anything else is replaced."""
    if isinstance(base, dict) and isinstance(over, dict):
        return {**base, **{name: merged(base.get(name), value) for name, value in over.items()}}
    return over
