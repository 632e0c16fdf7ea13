"""Reads the filter strategy and cases that a change description gives. I/O.

Cases are a JSONL file, its path relative to the description, one object a line:

    {"query": "red shoe", "filter": {"brand": "acme"}, "expect": "non-empty",
     "before": ["d1", "d2"], "after": 2}

    query, filter   the query's id or text (or key `id`), and the filter as text or JSON
    expect          "non-empty", "empty" or ">=1 grade>=2"
    before, after   the ids that came back, or how many; leave out what was not recorded
    grades          {doc id: grade}, optional: for this case, before those of the judgment list
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, PlainValidator, StrictBool, StrictInt

from relgate.eval.change_values import Strict, Text, checked
from relgate.eval.files import load_content
from relgate.eval.lists.jsontext import Json, json_lines
from relgate.eval.review.supplied import Expectation, FilterCase, FilterStrategy, Observed
from relgate.rubrics.errors import InputError

__all__ = ["read_filters"]


def _name(value: Json) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value:
        raise ValueError("neither text nor a whole number")
    return value


def _filter(value: Json) -> str:
    """A filter as people read it: `brand=acme, in_stock=true`."""
    if isinstance(value, str):
        shown = value.strip()
    elif isinstance(value, dict):
        shown = ", ".join(f"{name}={_compact(part)}" for name, part in value.items())
    else:
        shown = _compact(value) if isinstance(value, list) and value else ""
    if not shown:
        raise ValueError("no filter")
    return shown


def _compact(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _observed(value: Json) -> Observed:
    if isinstance(value, list):
        names = tuple(dict.fromkeys(map(_name, value)))
        return Observed(len(names), names)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError("neither a list of ids nor how many came back")
    return Observed(value)


_Hits = Annotated[Observed, PlainValidator(_observed)]
_Name = Annotated[str, PlainValidator(_name)]


class _Strategy(Strict):
    before: Text | None = None
    after: Text | None = None
    intended: StrictBool = False
    cases: Text | None = None


class _Case(Strict):
    query: _Name | None = None
    id: _Name | None = None
    filter: Annotated[str, PlainValidator(_filter)]
    expect: Expectation
    before: _Hits | None = None
    after: _Hits | None = None
    grades: dict[str, Annotated[StrictInt, Field(ge=0)]] = Field(default_factory=dict[str, int])


def read_filters(data: Mapping[str, Any], path: Path) -> FilterStrategy:
    """The filter strategy with its cases read.

    Raises:
        InputError: an unknown key, a value of another kind, or a fault of the file of cases.
    """
    table = checked(_Strategy, data, key="filter_strategy", path=path)
    cases = None if table.cases is None else tuple(_cases(path.parent / table.cases))
    return FilterStrategy(table.before, table.after, table.intended, cases)


def _cases(path: Path) -> Iterator[FilterCase]:
    content = load_content(path, text_only=True)
    for line, row in json_lines(content.text, content.path):
        case = checked(_Case, row, key="", path=path, line=line)
        query = case.query if case.query is not None else case.id
        if query is None:
            raise InputError("no query in this case", path=path, line=line, mend='add "query"')
        yield FilterCase(
            query=query,
            filter=case.filter,
            expect=case.expect,
            before=case.before,
            after=case.after,
            grades=case.grades,
            line=line,
        )
