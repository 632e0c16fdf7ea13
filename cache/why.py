"""Why a grade is not in the cache: which part of its key changed since a grade that is. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from relgate.cache.keys import grade_key, query_hash, text_hash
from relgate.cache.rows import SHORT_HASH_CHARS, StoredRow
from relgate.judge.parts import PART_NAMES, PartName

__all__ = ["Answer", "Changed", "Wanted", "explain"]

_FEW_PARTS = 2
"""The row format that recorded some parts and not others."""


class Changed(StrEnum):
    """A part of a grade's key; `unrecorded` is one of the judge's that the row does not record."""

    RUBRIC = "rubric"
    TEMPLATE = "template"
    SCHEMA = "schema"
    MODEL = "model"
    PARAMETERS = "parameters"
    ENDPOINT = "endpoint"
    SUSPICION = "suspicion"
    PANEL = "panel"
    TEXT = "text"
    UNRECORDED = "unrecorded"


@dataclass(frozen=True, slots=True)
class Wanted:
    """The grade that is asked for.

    Attributes:
        version: the judge's version.
        fingerprint: the judge's fingerprint.
        model: its model, or None.
        parts: from `shown_parts`.
        query: the query.
        text: the text as the judge would see it.
        doc_id: the document's id, or None for a text alone.
    """

    version: str
    fingerprint: str
    model: str | None
    parts: Mapping[PartName, str] | None
    query: str
    text: str
    doc_id: str | None = None

    @property
    def key(self) -> str:
        """The key under which the grade is stored."""
        return grade_key(
            version=self.version, fingerprint=self.fingerprint, query=self.query, text=self.text
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """What the cache knows of a grade.

    Attributes:
        cached: whether it is there.
        nearest: that grade, or the one whose key differs least, newest first; None when this
            document or text was never graded for the query.
        changed: how the key of `nearest` differs; empty when cached or without `nearest`.
        of_query: grades of the query under any judge, for any text.
    """

    cached: bool
    nearest: StoredRow | None
    changed: tuple[Changed, ...]
    of_query: int


def explain(rows: Iterable[tuple[str, StoredRow]], wanted: Wanted) -> Answer:
    """Compare every grade of the query with the `wanted` one."""
    key, query, text = wanted.key, _short(query_hash(wanted.query)), _short(text_hash(wanted.text))
    doc = None if wanted.doc_id is None else _short(text_hash(wanted.doc_id))
    of_query = 0
    exact: StoredRow | None = None
    nearest: StoredRow | None = None
    for row_key, row in rows:
        if row.query_hash != query:
            continue
        of_query += 1
        if row_key == key:
            exact = row
        elif row.text_hash == text or (doc is not None and row.doc_hash == doc):
            nearest = row if nearest is None else min(nearest, row, key=lambda r: _far(r, wanted))
    if exact is not None:
        return Answer(cached=True, nearest=exact, changed=(), of_query=of_query)
    changed = () if nearest is None else _changed(nearest, wanted)
    return Answer(cached=False, nearest=nearest, changed=changed, of_query=of_query)


def _far(row: StoredRow, wanted: Wanted) -> tuple[int, float]:
    return len(_changed(row, wanted)), -datetime.fromisoformat(row.judged_at).timestamp()


def _changed(row: StoredRow, wanted: Wanted) -> tuple[Changed, ...]:
    found = _parts_changed(row, wanted)
    if row.version != wanted.version and Changed.PANEL not in found:  # its name is a version too
        found.add(Changed.RUBRIC)
    if row.model != wanted.model:
        found.add(Changed.MODEL)
    if row.fingerprint != wanted.fingerprint and not found:
        found.add(Changed.UNRECORDED)
    if row.text_hash != _short(text_hash(wanted.text)):
        found.add(Changed.TEXT)
    return tuple(part for part in Changed if part in found)


def _parts_changed(row: StoredRow, wanted: Wanted) -> set[Changed]:
    """The recorded parts of the judge that differ; format 2 did not record all of them."""
    if row.parts is None or wanted.parts is None or row.fingerprint == wanted.fingerprint:
        return set()
    names = row.parts.keys() if row.format == _FEW_PARTS else PART_NAMES
    return {Changed(name) for name in names if row.parts.get(name) != wanted.parts.get(name)}


def _short(digest: str) -> str:
    return digest[:SHORT_HASH_CHARS]
