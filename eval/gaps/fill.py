"""Grades gaps with a judge and merges what comes back. Calls the judge; opens no file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
from relgate.judge.many import QUERIES_AT_ONCE, grade_many
from relgate.judge.types import Ask, Candidate, GradeError, Judge, JudgedHit
from relgate.rubrics.errors import UsageError

__all__ = ["Filled", "Progress", "check_on_scale", "fill_gaps", "merge_filled"]

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


async def fill_gaps(
    judge: Judge,
    gaps: Sequence[QueryGaps],
    candidate_of: Callable[[str], Candidate | None],
    *,
    judged_at: str,
    certificate: str | None = None,
    at_once: int = QUERIES_AT_ONCE,
    on_progress: Progress | None = None,
) -> Filled:
    """Puts every gap with a text to the judge. Never raises for a failed grade.

    Args:
        judge: any judge; wrap it in a cache to pay once.
        gaps: from `find_gaps`.
        candidate_of: document id -> what the judge sees of it, None when unknown.
        judged_at: ISO 8601 time for grades that do not bring their own.
        certificate: id of the judge's calibration certificate, stamped on each judgment.
        at_once: queries under way at once; see `OpenedJudge.queries_at_once`.
        on_progress: told after each query; documents without a text count as done.

    Raises:
        RelgateError: what the judge itself raises, such as a cache that is required and full.
    """
    stamp = Provenance(
        source=Source.JUDGE,
        judge_version=judge.version,
        fingerprint=judge.fingerprint,
        model=judge.model,
        certificate=certificate,
        judged_at=judged_at,
    )
    filling = _Filling(gaps, candidate_of, stamp, on_progress)
    await grade_many(judge, filling.asks(), filling.took, at_once=at_once)
    return filling.filled()


@dataclass(frozen=True, slots=True)
class _Answer:
    """What came back for one query, as it is kept."""

    judgments: tuple[Judgment, ...]
    failures: tuple[tuple[GradeError, str | None], ...]
    probabilities: Mapping[tuple[str, str], tuple[float, ...]]


class _Filling:
    """A fill under way. Texts and hits are let go as soon as their query is answered.

    What it holds beside the gaps themselves is what comes out: the judgments.
    """

    def __init__(
        self,
        gaps: Sequence[QueryGaps],
        candidate_of: Callable[[str], Candidate | None],
        stamp: Provenance,
        on_progress: Progress | None,
    ) -> None:
        self._gaps = gaps
        self._candidate_of = candidate_of
        self._stamps = {stamp.judged_at: stamp}
        self._stamp = stamp
        self._on_progress = on_progress
        self._total = sum(len(gap.doc_ids) for gap in gaps)
        self._no_text = self._done = 0
        self._open: dict[int, tuple[Query, tuple[str, ...]]] = {}
        self._answers: dict[int, _Answer] = {}

    def asks(self) -> Iterator[Ask]:
        """What to put to the judge, query by query, as it is wanted."""
        number = 0
        for gap in self._gaps:
            found = (self._candidate_of(doc) for doc in gap.doc_ids)
            candidates = tuple(each for each in found if each is not None)
            self._no_text += len(gap.doc_ids) - len(candidates)
            if candidates:
                hashes = tuple(text_hash(candidate.text) for candidate in candidates)
                self._open[number] = (gap.query, hashes)
                number += 1
                yield Ask(gap.query.shown, candidates)

    async def took(self, answered: Sequence[tuple[int, list[JudgedHit]]]) -> None:
        """Keeps what came back."""
        for number, hits in answered:
            query, hashes = self._open.pop(number)
            self._done += len(hits)
            self._answers[number] = _Answer(
                tuple(
                    self._judgment(query, hit, text)
                    for hit, text in zip(hits, hashes, strict=True)
                    if hit.graded
                ),
                tuple((hit.error, hit.detail) for hit in hits if hit.error is not None),
                _probabilities(query, hits),
            )
        if self._on_progress is not None:
            self._on_progress(self._done + self._no_text, self._total)

    def filled(self) -> Filled:
        """All of it, in the order of the gaps."""
        answers = [self._answers[number] for number in sorted(self._answers)]
        failures = [failure for answer in answers for failure in answer.failures]
        failed = [failure for failure in failures if failure[0] is not GradeError.NOT_ASKED]
        judgments = tuple(row for answer in answers for row in answer.judgments)
        return Filled(
            judgments=judgments,
            asked=len(judgments) + len(failed),
            not_asked=len(failures) - len(failed),
            errors=MappingProxyType(Counter(str(kind) for kind, _ in failed)),
            no_text=self._no_text,
            first_error=next((said for _, said in (*failed, *failures) if said), None),
            probabilities=MappingProxyType(
                {pair: shares for each in answers for pair, shares in each.probabilities.items()}
            ),
        )

    def _judgment(self, query: Query, hit: JudgedHit, text: str) -> Judgment:
        at = hit.judged_at or self._stamp.judged_at
        if at not in self._stamps:  # thousands of grades share a second: one object for all
            self._stamps[at] = replace(self._stamp, judged_at=at)
        return Judgment(
            query=query,
            doc_id=hit.id,
            grade=hit.grade,
            provenance=self._stamps[at],
            reason=hit.reason or None,
            text_hash=text,
        )


def _probabilities(
    query: Query, hits: Sequence[JudgedHit]
) -> Mapping[tuple[str, str], tuple[float, ...]]:
    """Those that can be believed; a judge of the user's own may give any numbers."""
    return {
        (query.id, match_key(hit.id)): shares
        for hit in hits
        if hit.graded and (shares := hit.probabilities) is not None and _believed(shares)
    }


def _believed(shares: tuple[float, ...]) -> bool:
    in_range = all(0 <= share <= 1 for share in shares)  # NaN is not
    return in_range and abs(sum(shares) - 1) < _SUM_TOLERANCE


def merge_filled(judgments: JudgmentList, filled: Iterable[Judgment]) -> JudgmentList:
    """The list with a judge's grades added; a grade that is there already stays.

    Raises:
        UsageError: a grade that the list's scale does not have.
    """
    builder = ListBuilder(judgments.scale)
    for query in judgments.queries:
        builder.add_query(query)
    for row in judgments.rows():
        builder.add_row(row)
    rated = judgments.grades_by_query()
    known = {q.id: grades for q, grades in zip(judgments.queries, rated, strict=True)}
    for row in filled:
        check_on_scale(row, judgments)
        if row.doc_id not in known.get(row.query.id, {}):
            builder.add_row(row)
    return builder.build()


def check_on_scale(row: Judgment, judgments: JudgmentList) -> None:
    """Refuses a judge's grade that the list cannot hold.

    Raises:
        UsageError: the list's scale does not have it.
    """
    if row.grade > judgments.scale.max_grade:
        raise UsageError(
            f"the judge graded {row.grade}, and the list's scale is {judgments.scale.name}; "
            "judge with a rubric of that scale"
        )
