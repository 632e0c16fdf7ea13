"""Grades gaps with a judge and merges what comes back. Calls the judge; opens no file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from relgate.cache.keys import text_hash
from relgate.eval.gaps.find import QueryGaps
from relgate.eval.lists.build import ListBuilder
from relgate.eval.lists.types import (
    Judgment,
    JudgmentList,
    Provenance,
    Query,
    Source,
    match_key,
)
from relgate.judge.many import grade_many
from relgate.judge.types import Ask, Candidate, GradeError, Judge, JudgedHit
from relgate.rubrics.errors import UsageError

__all__ = ["Filled", "Progress", "fill_gaps", "merge_filled"]

_SUM_TOLERANCE = 1e-6

Progress = Callable[[int, int], None]
"""Told how many pairs are done, of how many."""


@dataclass(frozen=True, slots=True)
class Filled:
    """What a judge made of the gaps.

    Attributes:
        judgments: one a graded pair; a failed grade is none.
        asked: pairs that the judge was asked about.
        errors: {kind: pairs that it gave no grade}.
        not_asked: pairs left out because the run had stopped: a budget, a dead key.
        no_text: pairs that the catalogue has no text for; not put to the judge.
        first_error: the first failure in the judge's words, or None.
        probabilities: by (query id, match key), the share of each grade, of a judge that tells.
    """

    judgments: tuple[Judgment, ...]
    asked: int
    errors: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    not_asked: int = 0
    no_text: int = 0
    first_error: str | None = None
    probabilities: Mapping[tuple[str, str], tuple[float, ...]] = field(
        default_factory=lambda: MappingProxyType({})
    )

    @property
    def error_rate(self) -> float:
        """Failed share of the pairs asked, 0..1; 0 when none was asked."""
        return sum(self.errors.values()) / self.asked if self.asked else 0.0


@dataclass(frozen=True, slots=True)
class _Ask:
    query: Query
    candidates: tuple[Candidate, ...]


async def fill_gaps(
    judge: Judge,
    gaps: Sequence[QueryGaps],
    candidate_of: Callable[[str], Candidate | None],
    *,
    judged_at: str,
    certificate: str | None = None,
    on_progress: Progress | None = None,
) -> Filled:
    """Puts every gap with a text to the judge. Never raises for a failed grade.

    Args:
        judge: any judge; wrap it in a cache to pay once.
        gaps: from `find_gaps`.
        candidate_of: document id -> what the judge sees of it, None when unknown.
        judged_at: ISO 8601 time for grades that do not bring their own.
        certificate: id of the judge's calibration certificate, stamped on each judgment.
        on_progress: told after each query.

    Raises:
        RelgateError: what the judge itself raises, such as a cache that is required and full.
    """
    asks, no_text = _asks(gaps, candidate_of)
    rows = await _answered(judge, asks, on_progress)
    stamp = Provenance(
        source=Source.JUDGE,
        judge_version=judge.version,
        fingerprint=judge.fingerprint,
        model=judge.model,
        certificate=certificate,
        judged_at=judged_at,
    )
    ungraded = [row.hit for row in rows if row.hit.error is not None]
    failed = [hit for hit in ungraded if hit.error is not GradeError.NOT_ASKED]
    not_asked = len(ungraded) - len(failed)
    return Filled(
        judgments=tuple(_judgment(row, stamp) for row in rows if row.hit.graded),
        asked=len(rows) - not_asked,
        not_asked=not_asked,
        errors=MappingProxyType(Counter(str(hit.error) for hit in failed)),
        no_text=no_text,
        first_error=next((hit.detail for hit in (*failed, *ungraded) if hit.detail), None),
        probabilities=MappingProxyType(_probabilities(rows)),
    )


@dataclass(frozen=True, slots=True)
class _Row:
    """One pair, and what the judge said of it."""

    query: Query
    candidate: Candidate
    hit: JudgedHit


async def _answered(judge: Judge, asks: Sequence[_Ask], on_progress: Progress | None) -> list[_Row]:
    """Every pair with its answer, in the order asked; many queries are under way at once."""
    total, done = sum(len(ask.candidates) for ask in asks), 0
    answers: dict[int, list[JudgedHit]] = {}

    async def took(answered: Sequence[tuple[int, list[JudgedHit]]]) -> None:
        nonlocal done
        answers.update(answered)
        done += sum(len(hits) for _, hits in answered)
        if on_progress is not None:
            on_progress(done, total)

    await grade_many(judge, [Ask(ask.query.shown, ask.candidates) for ask in asks], took)
    return [
        _Row(ask.query, candidate, hit)
        for number, ask in enumerate(asks)
        for candidate, hit in zip(ask.candidates, answers[number], strict=True)
    ]


def _probabilities(rows: Sequence[_Row]) -> dict[tuple[str, str], tuple[float, ...]]:
    """Those that can be believed; a judge of the user's own may give any numbers."""
    return {
        (row.query.id, match_key(row.hit.id)): shares
        for row in rows
        if row.hit.graded and (shares := row.hit.probabilities) is not None and _believed(shares)
    }


def _believed(shares: tuple[float, ...]) -> bool:
    in_range = all(0 <= share <= 1 for share in shares)  # NaN is not
    return in_range and abs(sum(shares) - 1) < _SUM_TOLERANCE


def _asks(
    gaps: Sequence[QueryGaps], candidate_of: Callable[[str], Candidate | None]
) -> tuple[list[_Ask], int]:
    asks: list[_Ask] = []
    no_text = 0
    for gap in gaps:
        candidates = [c for doc in gap.doc_ids if (c := candidate_of(doc)) is not None]
        no_text += len(gap.doc_ids) - len(candidates)
        if candidates:
            asks.append(_Ask(gap.query, tuple(candidates)))
    return asks, no_text


def _judgment(row: _Row, stamp: Provenance) -> Judgment:
    hit = row.hit
    made = stamp if hit.judged_at is None else replace(stamp, judged_at=hit.judged_at)
    return Judgment(
        query=row.query,
        doc_id=hit.id,
        grade=hit.grade,
        provenance=made,
        reason=hit.reason or None,
        text_hash=text_hash(row.candidate.text),
    )


def merge_filled(judgments: JudgmentList, filled: Iterable[Judgment]) -> JudgmentList:
    """The list with a judge's grades added; a grade that is there already stays.

    Raises:
        UsageError: a grade that the list's scale does not have.
    """
    builder = ListBuilder(judgments.scale)
    for query in judgments.queries:
        builder.add_query(query)
    for row in judgments.rows():
        _add(builder, row)
    rated = judgments.grades_by_query()
    known = {q.id: grades for q, grades in zip(judgments.queries, rated, strict=True)}
    for row in filled:
        if row.grade > judgments.scale.max_grade:
            raise UsageError(
                f"the judge graded {row.grade}, and the list's scale is {judgments.scale.name}; "
                "judge with a rubric of that scale"
            )
        if row.doc_id not in known.get(row.query.id, {}):
            _add(builder, row)
    return builder.build()


def _add(builder: ListBuilder, row: Judgment) -> None:
    builder.add(
        row.query,
        row.doc_id,
        row.grade,
        row.provenance,
        reason=row.reason,
        text_hash=row.text_hash,
    )
