"""Between a judge's answer and the row that keeps it. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import ValidationError

from relgate.cache.keys import query_hash, text_hash
from relgate.cache.rows import SHORT_HASH_CHARS, StoredRow
from relgate.judge.parts import PartName
from relgate.judge.types import Candidate, Judge, JudgedHit, Usage

__all__ = ["hit_of", "row_of"]


def hit_of(row: StoredRow, candidate_id: str) -> JudgedHit:
    """The grade in `row`, of a candidate."""
    return JudgedHit(
        id=candidate_id,
        grade=row.grade,
        esci=row.esci,
        reason=row.reason,
        batch_size=row.batch_size,
        position=row.position,
        judged_at=row.judged_at,
        expected_grade=row.expected_grade,
        spread=row.spread,
        usage=Usage(row.prompt_tokens, row.completion_tokens, batch=row.batch),
        probabilities=row.probabilities,
    )


def row_of(
    hit: JudgedHit,
    *,
    judge: Judge,
    parts: Mapping[PartName, str] | None,
    query: str,
    candidate: Candidate,
) -> StoredRow | None:
    """The row for a grade; None when it cannot be stored.

    Args:
        hit: the grade, with its time.
        judge: who gave it.
        parts: the judge's, from `shown_parts`.
        query: the query.
        candidate: what was graded.
    """
    try:
        return StoredRow(
            version=judge.version,
            fingerprint=judge.fingerprint,
            model=judge.model,
            esci=hit.esci,
            grade=hit.grade,
            reason=hit.reason,
            judged_at=hit.judged_at or "",
            expected_grade=hit.expected_grade,
            spread=hit.spread,
            probabilities=hit.probabilities,
            batch_size=hit.batch_size,
            position=hit.position,
            prompt_tokens=hit.usage.prompt_tokens,
            completion_tokens=hit.usage.completion_tokens,
            batch=hit.usage.batch,
            query_hash=query_hash(query)[:SHORT_HASH_CHARS],
            text_hash=text_hash(candidate.text)[:SHORT_HASH_CHARS],
            doc_hash=text_hash(candidate.id)[:SHORT_HASH_CHARS],
            parts=None if parts is None else dict(parts),
        )
    except ValidationError:
        return None
