"""Judgments that a judge made earlier, as cached grades: only where every part of the key is known.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pydantic import ValidationError

from relgate.cache.keys import grade_key, query_hash, text_hash
from relgate.cache.rows import SHORT_HASH_CHARS, StoredRow, clean_reason, encode_row
from relgate.rubrics import Rubric

__all__ = ["Judged", "Refused", "seed_row"]


class Refused(StrEnum):
    """Why a judgment cannot become a cached grade."""

    NO_JUDGE = "not made by a judge"
    NO_VERSION = "the judge's version is not recorded"
    NO_FINGERPRINT = "the judge's fingerprint is not recorded"
    NO_TIME = "the time is not recorded"
    NO_TEXT_HASH = "the hash of the judged text is not recorded"
    NO_DOCUMENT = "the document is not in the catalogue"
    OTHER_TEXT = "the document's text changed since"
    OTHER_RUBRIC = "made under another rubric than the project's"
    NO_LABEL = "the grade does not fit the rubric"
    ODD = "its provenance cannot be stored"


@dataclass(frozen=True, slots=True)
class Judged:
    """A judgment with what is known of how it came about; None for what is not.

    Attributes:
        query: what the judge was shown as the query: its text, or its id where no text was known.
        doc_id: the document's id.
        text: its text today, or None when the catalogue lacks it.
        text_hash: hash of the text that was judged, from `keys.text_hash`.
        grade: the grade.
        reason: the judge's reason.
        by_judge: whether a judge made it.
        version: the judge's version.
        fingerprint: the judge's fingerprint.
        model: the model.
        judged_at: ISO 8601 time.
    """

    query: str
    doc_id: str
    text: str | None
    text_hash: str | None
    grade: int
    reason: str | None
    by_judge: bool
    version: str | None
    fingerprint: str | None
    model: str | None
    judged_at: str | None


def seed_row(judged: Judged, rubric: Rubric) -> tuple[str, str] | Refused:
    """Key and text to store for a judgment, or why it cannot be stored."""
    refused = _lack(judged) or _mismatch(judged, rubric)
    label = next((x for x in rubric.labels if x.grade == judged.grade), None)
    if refused is not None or label is None:
        return refused or Refused.NO_LABEL
    version, fingerprint = judged.version or "", judged.fingerprint or ""
    query, text = judged.query, judged.text or ""
    key = grade_key(version=version, fingerprint=fingerprint, query=query, text=text)
    try:
        row = StoredRow(
            version=version,
            fingerprint=fingerprint,
            model=judged.model,
            esci=label.code,
            grade=judged.grade,
            reason=clean_reason(judged.reason or ""),
            judged_at=judged.judged_at or "",
            query_hash=query_hash(query)[:SHORT_HASH_CHARS],
            text_hash=text_hash(text)[:SHORT_HASH_CHARS],
            doc_hash=text_hash(judged.doc_id)[:SHORT_HASH_CHARS],
        )
    except ValidationError:
        return Refused.ODD
    return key, encode_row(row, key=key)


def _lack(judged: Judged) -> Refused | None:
    needed = (
        (judged.by_judge or None, Refused.NO_JUDGE),
        (judged.version, Refused.NO_VERSION),
        (judged.fingerprint, Refused.NO_FINGERPRINT),
        (judged.judged_at, Refused.NO_TIME),
        (judged.text_hash, Refused.NO_TEXT_HASH),
        (judged.text, Refused.NO_DOCUMENT),
    )
    return next((why for value, why in needed if value is None), None)


def _mismatch(judged: Judged, rubric: Rubric) -> Refused | None:
    if judged.text is None or text_hash(judged.text) != judged.text_hash:
        return Refused.OTHER_TEXT
    if judged.version != rubric.version:
        return Refused.OTHER_RUBRIC
    return None
