"""Runs out of `_rank_eval` responses of any age, and recall@k reports of the same shape. Pure.

Also files with bare details: no hits, no failures, `unrated_docs` as plain ids, and an aggregate
that is not the mean of the details. What such a file does not say stays None.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from relgate.eval.lists.docids import DocIds
from relgate.eval.lists.jsontext import Json, as_list, as_object, as_text
from relgate.eval.lists.notes import Notes
from relgate.eval.lists.types import Query, match_key
from relgate.eval.runs.metric import metric_of_details, stated_further, stated_metric
from relgate.eval.runs.types import GivenQuery, GivenScores, Run
from relgate.rubrics.errors import InputError

__all__ = ["is_rank_eval_response", "read_rank_eval"]

_SCORE = ("metric_score", "quality_level")  # the second up to Elasticsearch 6.2
_UNRATED = ("unrated_docs", "unknown_docs")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def is_rank_eval_response(value: Json) -> bool:
    """Whether `value` is a `_rank_eval` response, wrapped or not."""
    if not isinstance(value, dict):
        return False
    top = value.get("rank_eval", value)
    if not isinstance(top, dict):
        return False
    parts = (top.get("details"), top.get("failures"))
    return any(isinstance(part, dict) for part in parts) or any(name in top for name in _SCORE)


def read_rank_eval(value: Json, path: str, name: str | None, doc_ids: DocIds | None = None) -> Run:
    """A run with the scores that the engine gave; queries of `details` and `failures` together.

    Args:
        value: the response.
        path: the file, for messages.
        name: how reports call the run; None is the file's name.
        doc_ids: how `_index` and `_id` become one id; by default `_id` alone is it.

    Raises:
        InputError: a part of the response has another shape; it says which part.
    """
    outer = as_object(value, "the file", path)
    top = as_object(outer.get("rank_eval", outer), "rank_eval", path)
    notes, ids = Notes(), DocIds() if doc_ids is None else doc_ids
    parts = {
        key: _part(as_object(detail, f"details of {key!r}", path), key, path, notes, ids)
        for key, detail in _object(top, "details", path).items()
    }
    failures = {key: _failure(error) for key, error in _object(top, "failures", path).items()}
    queries = _queries([*parts, *(key for key in failures if key not in parts)], path)
    for key in failures:
        if key in parts:
            notes.add("queries stand in details and in failures; taken as failed", key)
    return Run(
        name=name or Path(path).stem,
        queries=queries,
        docs=tuple(parts[q.id].docs if q.id in parts else None for q in queries),
        failures=failures,
        given=_given(top, parts, path),
        format=_format(top),
        path=path,
        notes=notes.lines(),
    )


@dataclass(frozen=True, slots=True)
class _Part:
    docs: tuple[str, ...] | None
    given: GivenQuery
    metric_details: Json


def _part(detail: dict[str, Json], key: str, path: str, notes: Notes, ids: DocIds) -> _Part:
    docs, ratings = _hits(detail.get("hits"), key, path, ids)
    unrated = None
    for name in _UNRATED:
        if detail.get(name) is not None:
            where = f"{name} of {key!r}"
            listed = as_list(detail[name], where, path)
            unrated = tuple(_doc_id(doc, where, path, ids) for doc in listed)
    for doc_id in docs or ():
        notes.look(doc_id)
    given = GivenQuery(_score(detail, f"of {key!r}", path), unrated, ratings)
    return _Part(docs, given, detail.get("metric_details"))


def _hits(
    value: Json, key: str, path: str, ids: DocIds
) -> tuple[tuple[str, ...] | None, dict[str, float] | None]:
    if value is None:
        return None, None
    docs: list[str] = []
    ratings: dict[str, float] = {}
    for number, entry in enumerate(as_list(value, f"hits of {key!r}", path), start=1):
        where = f"hit {number} of {key!r}"
        item = as_object(entry, where, path)
        docs.append(_doc_id(item.get("hit", entry), where, path, ids))
        if item.get("rating") is not None:
            ratings.setdefault(docs[-1], _number(item["rating"], f"the rating of {where}", path))
    return tuple(docs), ratings


def _doc_id(value: Json, where: str, path: str, ids: DocIds) -> str:
    return ids.of(value if isinstance(value, dict) else {"_id": value}, where, path)


def _object(top: dict[str, Json], name: str, path: str) -> dict[str, Json]:
    """A part that may be absent or null."""
    value = top.get(name)
    return {} if value is None else as_object(value, name, path)


def _queries(keys: Iterable[str], path: str) -> tuple[Query, ...]:
    queries: dict[str, Query] = {}
    for key in keys:
        query = Query(as_text(key, "a query id", path))
        if queries.setdefault(match_key(key), query) is not query:
            raise InputError(
                f"query id {key!r} stands twice", path=path, mend="keep one of the two"
            )
    if not queries:
        raise InputError(
            "neither details nor failures name a query", path=path, mend="run it again"
        )
    return tuple(queries.values())


def _given(top: dict[str, Json], parts: dict[str, _Part], path: str) -> GivenScores:
    details = [part.metric_details for part in parts.values()]
    setting = stated_metric(top, path) or metric_of_details(details, path)
    return GivenScores(
        metric=setting.metric,
        k=setting.k,
        normalized=setting.normalized,
        metric_score=_score(top, "of the file", path),
        queries={key: part.given for key, part in parts.items()},
        stated=stated_further(top, path),
    )


def _format(top: dict[str, Json]) -> str:
    stated = top.get("metric")
    is_recall = isinstance(stated, str) and stated.strip().casefold().startswith("recall")
    return "recall-report" if is_recall else "rank-eval-response"


def _score(holder: dict[str, Json], where: str, path: str) -> float | None:
    """The score under either name; None when neither is there, NaN when it is null."""
    for name in _SCORE:
        if name in holder:
            return _number(holder[name], f"{name} {where}", path)
    return None


def _number(value: Json, where: str, path: str) -> float:
    """A number as Elasticsearch writes it; NaN and null are NaN, which no rule lets pass."""
    if value is None:
        return math.nan
    if isinstance(value, str) and value in _NOT_FINITE:
        return _NOT_FINITE[value]
    if isinstance(value, str) and _DECIMAL.fullmatch(value):
        return float(value)
    if isinstance(value, float):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value) if abs(value) <= sys.float_info.max else math.inf
    raise InputError(f"{where} is {str(value)[:40]!r}, no number", path=path, mend="run it again")


def _failure(value: Json) -> str:
    """One line that says why the engine could not answer."""
    error = value.get("error", value) if isinstance(value, dict) else value
    if not isinstance(error, dict):
        return " ".join(str(error).split()) or "failed"
    words = [str(error[name]) for name in ("type", "reason") if error.get(name)]
    return " ".join(": ".join(words).split()) or "failed"
