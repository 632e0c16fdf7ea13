"""Grades only what can still change the verdict, in waves. Calls the judge; opens no file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from relgate.eval.bounds.order import open_rules
from relgate.eval.bounds.rules import Standing, verdict_range
from relgate.eval.gaps.doubt import JudgeError
from relgate.eval.gaps.fill import Filled, Progress, fill_gaps, merge_filled
from relgate.eval.gaps.find import QueryGaps
from relgate.eval.gaps.open import OpenGaps
from relgate.eval.lists.types import Judgment, JudgmentList, Query
from relgate.eval.review.types import Evidence, Verdict
from relgate.judge.many import QUERIES_AT_ONCE
from relgate.judge.types import Candidate, Judge

__all__ = ["OpenFacts", "fill_open"]


@dataclass(frozen=True, slots=True)
class OpenFacts:
    """What a verdict-driven fill did, and where it left the rules.

    Attributes:
        pairs: unrated documents within k that have a text: what a whole fill would ask for.
        asked: those of them that the judge was asked for.
        left: those that still have an open grade.
        waves: rounds of asking; 0 when the bounds decided alone.
        least: the mildest verdict that grades for those left could lead to.
        most: the worst.
        standings: every rule over all those grades.
        open: the pairs that can still change the verdict, by query; empty when settled.
        exact: every bound is reached by some fill; else some are outer bounds.
        judge_error: what the judges may have got wrong, where the bounds run over that too.
        doubted: judged documents for which they leave more than one grade possible.
        doubtful: those of them within k that can still change the verdict, by query.
    """

    pairs: int
    asked: int
    left: int
    waves: int
    least: Verdict
    most: Verdict
    standings: tuple[Standing, ...]
    open: tuple[QueryGaps, ...] = ()
    exact: bool = True
    judge_error: JudgeError | None = None
    doubted: int = 0
    doubtful: tuple[tuple[Query, tuple[str, ...]], ...] = ()

    @property
    def settled(self) -> bool:
        """No grade of what is left, or that the judge may have got wrong, changes the verdict."""
        return self.least is self.most

    @property
    def open_rules(self) -> tuple[str, ...]:
        """The rules that can still change the verdict."""
        return open_rules(self.standings)


async def fill_open(
    judge: Judge,
    gaps: OpenGaps,
    judgments: JudgmentList,
    candidate_of: Callable[[str], Candidate | None],
    *,
    evidence_of: Callable[[JudgmentList], Evidence],
    first: Evidence,
    judged_at: str,
    certificate: str | None = None,
    at_once: int = QUERIES_AT_ONCE,
    on_progress: Progress | None = None,
) -> tuple[Filled, OpenFacts]:
    """Asks for grades until none of those left can change the verdict, or the judge stops.

    A pair that the judge fails on stays unrated, as in a whole fill. `gaps` learns every grade.

    Args:
        judge: any judge; wrap it in a cache to pay once.
        gaps: the review's queries.
        judgments: the list that they were made of.
        candidate_of: document id -> what the judge sees of it.
        evidence_of: a list -> the evidence on it.
        first: the evidence on `judgments`.
        judged_at: ISO 8601 time for grades that do not bring their own.
        certificate: id of the judge's calibration certificate.
        at_once: queries under way at once; see `OpenedJudge.queries_at_once`.
        on_progress: told pairs done, of all that a whole fill would ask for.

    Raises:
        RelgateError: what the judge itself raises.
    """
    evidence, waves = first, list[Filled]()
    ranges = gaps.standings(evidence)
    while gaps.left and _open(ranges) and not (waves and waves[-1].not_asked):
        wave = gaps.next_wave(evidence, ranges)
        done = await fill_gaps(
            judge,
            wave,
            candidate_of,
            judged_at=judged_at,
            certificate=certificate,
            at_once=at_once,
            on_progress=_from(on_progress, sum(w.asked for w in waves), gaps.pairs),
        )
        waves.append(done)
        gaps.take(done.judgments)
        if not done.not_asked:
            gaps.close(wave)
        first_grades = bool(done.judgments) and not _graded(waves[:-1])
        if first_grades or not evidence.paired or not gaps.left:
            evidence = evidence_of(merge_filled(judgments, _graded(waves)))
        ranges = gaps.standings(evidence)
    return _together(waves, gaps.no_text), _facts(gaps, evidence, ranges, waves)


def _open(ranges: Sequence[Standing]) -> bool:
    least, most = verdict_range(ranges)
    return least is not most


def _from(report: Progress | None, done_before: int, pairs: int) -> Progress | None:
    if report is None:
        return None
    return lambda done, _total: report(done_before + done, pairs)


def _graded(waves: Sequence[Filled]) -> tuple[Judgment, ...]:
    return tuple(row for wave in waves for row in wave.judgments)


def _together(waves: Sequence[Filled], no_text: int) -> Filled:
    errors: Counter[str] = Counter()
    for wave in waves:
        errors.update(wave.errors)
    return Filled(
        judgments=_graded(waves),
        asked=sum(wave.asked for wave in waves),
        errors=MappingProxyType(errors),
        not_asked=sum(wave.not_asked for wave in waves),
        no_text=no_text,
        first_error=next((w.first_error for w in waves if w.first_error is not None), None),
        probabilities=MappingProxyType(
            {pair: shares for wave in waves for pair, shares in wave.probabilities.items()}
        ),
    )


def _facts(
    gaps: OpenGaps, evidence: Evidence, ranges: tuple[Standing, ...], waves: Sequence[Filled]
) -> OpenFacts:
    least, most = verdict_range(ranges)
    return OpenFacts(
        pairs=gaps.pairs,
        asked=sum(wave.asked for wave in waves),
        left=gaps.left,
        waves=len(waves),
        least=least,
        most=most,
        standings=ranges,
        open=gaps.still_open(evidence, ranges),
        exact=gaps.table.exact,
        judge_error=gaps.judge_error,
        doubted=gaps.doubted,
        doubtful=gaps.still_doubted(evidence, ranges),
    )
