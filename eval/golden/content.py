"""What a golden set says, as one hash, and what changed between two of them. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from relgate.eval.golden.types import GoldenJudgment, GoldenQuery, GoldenSet

__all__ = ["Change", "GoldenDiff", "content_hash", "diff_sets", "plain"]

_TOLD_APART = ("judgments", "set", "id")


def plain(golden: GoldenSet) -> dict[str, Any]:
    """The set as JSON values, without what has its default value; keys as the types order them."""
    return {
        "version": golden.version,
        "k": golden.k,
        "scale": golden.scale,
        "queries": [_query(query) for query in golden.queries],
        **({"retired": [asdict(r) for r in golden.retired]} if golden.retired else {}),
    }


def _query(query: GoldenQuery) -> dict[str, Any]:
    out = _set_fields(query)
    out["judgments"] = [_judgment(judgment) for judgment in query.judgments]
    return out


def _judgment(judgment: GoldenJudgment) -> dict[str, Any]:
    out = _set_fields(judgment)
    if judgment.ratings:
        out["ratings"] = [_set_fields(rating) for rating in judgment.ratings]
    return out


def _set_fields(value: Any) -> dict[str, Any]:  # noqa: ANN401 - any dataclass of this format
    return {
        field.name: getattr(value, field.name)
        for field in fields(value)
        if getattr(value, field.name) != field.default
    }


def content_hash(golden: GoldenSet) -> str:
    """SHA-256 of everything in the set but its version, the same in whatever order it stands.

    Two sets with one hash give the same figures on every run. A live id beside a locator is not
    content: it is looked up anew for each index.
    """
    ordered = replace(
        golden,
        queries=tuple(sorted(map(_ordered, golden.queries), key=lambda query: query.id)),
        retired=tuple(sorted(golden.retired, key=lambda entry: entry.id)),
    )
    body = plain(ordered)
    del body["version"]
    text = json.dumps(body, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _ordered(query: GoldenQuery) -> GoldenQuery:
    """The judgments in the order of their keys, those with a locator without their live id."""
    judgments = (j if j.locator is None else replace(j, doc_id=None) for j in query.judgments)
    return replace(query, judgments=tuple(sorted(judgments, key=lambda j: (j.key, j.grade))))


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that differs for a query that both sets have.

    Attributes:
        query: its id.
        text: what the shopper types, in the later set.
        what: the field (`text`, `filters`, `set` ...), or `grade of DOC`.
        before: its value in the earlier set; None where it was not there.
        after: its value in the later set; None where it is gone.
    """

    query: str
    text: str
    what: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class GoldenDiff:
    """What changed from one set to another.

    Attributes:
        added: ids of queries that the later set has alone.
        removed: ids of queries that the earlier set has alone.
        labels: judgments added, changed or dropped.
        moved: queries that moved between core, challenge and shadow.
        other: every other field that changed.
        settings: changes of k and scale; `query` is empty.
    """

    added: tuple[str, ...]
    removed: tuple[str, ...]
    labels: tuple[Change, ...]
    moved: tuple[Change, ...]
    other: tuple[Change, ...]
    settings: tuple[Change, ...]

    def __bool__(self) -> bool:
        return any((self.added, self.removed, self.labels, self.moved, self.other, self.settings))


def diff_sets(before: GoldenSet, after: GoldenSet) -> GoldenDiff:
    """What changed, in the order of the later set."""
    old = {query.id: query for query in before.queries}
    new = {query.id: query for query in after.queries}
    both = [(old[query.id], query) for query in after.queries if query.id in old]
    return GoldenDiff(
        added=tuple(q for q in new if q not in old),
        removed=tuple(q for q in old if q not in new),
        labels=tuple(change for pair in both for change in _labels(*pair)),
        moved=tuple(Change(b.id, b.text, "set", a.set, b.set) for a, b in both if a.set != b.set),
        other=tuple(change for pair in both for change in _other(*pair)),
        settings=tuple(
            Change("", "", name, getattr(before, name), getattr(after, name))
            for name in ("k", "scale")
            if getattr(before, name) != getattr(after, name)
        ),
    )


def _labels(before: GoldenQuery, after: GoldenQuery) -> list[Change]:
    old = _grades(before)
    new = _grades(after)
    return [
        Change(after.id, after.text, f"grade of {key}", old.get(key), new.get(key))
        for key in dict.fromkeys((*new, *old))
        if old.get(key) != new.get(key)
    ]


def _grades(query: GoldenQuery) -> Mapping[str, int]:
    return {judgment.key: judgment.grade for judgment in query.judgments}


def _other(before: GoldenQuery, after: GoldenQuery) -> list[Change]:
    return [
        Change(after.id, after.text, f.name, getattr(before, f.name), getattr(after, f.name))
        for f in fields(after)
        if f.name not in _TOLD_APART and getattr(before, f.name) != getattr(after, f.name)
    ]
