"""Several votes on one pair: of several judges, or of one judge in several orders. Pure."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from typing import Literal, Protocol

from relgate.judge.parse import MAX_REASON_CHARS
from relgate.judge.parts import PartName, joined_parts, shown_parts
from relgate.judge.prompt import one_line
from relgate.judge.suspicion import suspicion
from relgate.judge.sync import run_sync
from relgate.judge.types import (
    ERROR_REASON,
    NO_USAGE,
    Candidate,
    GradeError,
    Judge,
    JudgedHit,
    Usage,
)
from relgate.rubrics import Rubric
from relgate.rubrics.errors import UsageError

__all__ = [
    "Combine",
    "OrderedJudge",
    "PanelJudge",
    "ShuffledJudge",
    "members_of",
    "panel_of_shuffles",
]

Combine = Literal["majority", "median"]

_LEAST_VOTES = 2
_TAG = "panel-v1"


class OrderedJudge(Judge, Protocol):
    """A judge that can be told the order within a call, as `LlmJudge` can."""

    async def grade_in_order(self, query: str, candidates: Sequence[Candidate]) -> list[JudgedHit]:
        """One call, in the given order, nothing asked again."""
        ...


class PanelJudge:
    """A `Judge` whose grade is the combined vote of several.

    A failed vote is left out. A row fails when fewer than half of its votes are there; its error
    is the most frequent one. Ties go to the lower grade: a panel in doubt does not flatter. A row
    of two votes or more keeps the standard deviation of their grades as `spread`.

    Args:
        judges: two or more, with different fingerprints, on one scale. For one judge in several
            orders see `panel_of_shuffles`.
        combine: `median`, or `majority` (the most frequent grade).

    Attributes:
        version: hash of the way of combining and of the members' versions.
        fingerprint: the same over the members' fingerprints too.
        model: the members' model, where they have one in common; else None.
        family: the members' family, where they have one in common; else None, which nobody may
            take for separate: ask each of `members_of`.
        batch_size: the smallest of the members'.
        rubric: the members', where they have one.
        members: the judges.
        failed_votes: votes left out so far.

    Raises:
        UsageError: fewer than two votes, one judge twice, members on different scales.
    """

    def __init__(self, judges: Sequence[Judge], *, combine: Combine = "median") -> None:
        if len(judges) < _LEAST_VOTES:
            raise UsageError(f"a panel of {len(judges)} is none; give 2 votes or more")
        if len({judge.fingerprint for judge in judges}) < len(judges):
            raise UsageError("a judge is on the panel twice; for several orders: panel_of_shuffles")
        seats = sorted([judge.version, judge.fingerprint] for judge in judges)
        versions = sorted({judge.version for judge in judges})
        self.version = f"{_TAG}@{_digest([combine, versions])[:8]}"
        self.fingerprint = _digest([_TAG, combine, seats])[:16]
        self.model = _common([judge.model for judge in judges])
        self.family = _common([judge.family for judge in judges])
        self.batch_size = min(judge.batch_size for judge in judges)
        self.rubric = _one_scale(judges)
        self.members = tuple(judges)
        self.failed_votes = 0
        self._combine: Combine = combine

    @property
    def parts(self) -> dict[PartName, str] | None:
        """A short hash of each part of the fingerprint; None when a member shows none."""
        members = [shown_parts(judge) for judge in members_of(self)]
        return joined_parts(members, panel=f"{self._combine} of {len(self.members)}")

    async def grade(self, query: str, candidates: Sequence[Candidate]) -> list[JudgedHit]:
        """One row a candidate, in their order. Never raises for a failed vote."""
        import asyncio  # noqa: PLC0415 - costs 80 ms, and an importer may never grade

        votes = await asyncio.gather(*(judge.grade(query, candidates) for judge in self.members))
        by_row = zip(candidates, *votes, strict=True)
        return [self._combined(candidate, row) for candidate, *row in by_row]

    def grade_sync(self, query: str, candidates: Sequence[Candidate]) -> list[JudgedHit]:
        """As `grade`, for callers without an event loop.

        Raises:
            UsageError: called from inside an event loop.
        """
        return run_sync(self.grade(query, candidates))

    def _combined(self, candidate: Candidate, votes: Sequence[JudgedHit]) -> JudgedHit:
        from statistics import median_low, pstdev  # noqa: PLC0415 - loads decimal and fractions

        graded = [vote for vote in votes if vote.graded]
        self.failed_votes += len(votes) - len(graded)
        if 2 * len(graded) < len(votes) or not graded:
            return _failed(candidate, votes, len(graded))
        grades = [vote.grade for vote in graded]
        grade = median_low(grades) if self._combine == "median" else _most_frequent(grades)
        chosen = next(vote for vote in graded if vote.grade == grade)
        said = " ".join(vote.esci if vote.graded else "-" for vote in votes)
        reason = f"{self._combine} of {said}: {chosen.reason}"
        return JudgedHit(
            id=candidate.id,
            grade=grade,
            esci=chosen.esci,
            reason=one_line(reason, MAX_REASON_CHARS),
            spread=pstdev(grades) if len(grades) > 1 else None,
            usage=_paid(votes),
        )


class ShuffledJudge:
    """A judge that fills its batches in an order of its own, derived from the content.

    Args:
        judge: asked by `grade_in_order`, so what fails is not asked again.
        number: which order; another number is another fingerprint.

    Attributes:
        members: the judge itself: in whatever order, it is that judge who answers.
    """

    def __init__(self, judge: OrderedJudge, number: int) -> None:
        self.version = judge.version
        self.fingerprint = _digest([judge.fingerprint, "order", number])[:16]
        self.model = judge.model
        self.family = judge.family
        self.batch_size = judge.batch_size
        self.rubric: Rubric | None = getattr(judge, "rubric", None)
        self.members = (judge,)
        self._judge = judge
        self._number = number

    async def grade(self, query: str, candidates: Sequence[Candidate]) -> list[JudgedHit]:
        """One row a candidate, in the caller's order. Never raises for a failed grade."""
        import asyncio  # noqa: PLC0415 - costs 80 ms, and an importer may never grade

        batches = self._batches(query, candidates)
        said = await asyncio.gather(
            *(self._judge.grade_in_order(query, [candidates[i] for i in b]) for b in batches)
        )
        rows = {
            i: hit
            for batch, hits in zip(batches, said, strict=True)
            for i, hit in zip(batch, hits, strict=True)
        }
        return [rows[i] for i in range(len(candidates))]

    def grade_sync(self, query: str, candidates: Sequence[Candidate]) -> list[JudgedHit]:
        """As `grade`, for callers without an event loop.

        Raises:
            UsageError: called from inside an event loop.
        """
        return run_sync(self.grade(query, candidates))

    def _batches(self, query: str, candidates: Sequence[Candidate]) -> list[list[int]]:
        """As in `LlmJudge.batches`: a text that talks to the judge goes alone."""

        def key(i: int) -> str:
            return _digest([self._number, query, candidates[i].text])

        order = sorted(range(len(candidates)), key=key)
        alone = [i for i in order if suspicion(candidates[i].text) is not None]
        apart = set(alone)
        rest = [i for i in order if i not in apart]
        size = max(1, self.batch_size)
        return [*(rest[i : i + size] for i in range(0, len(rest), size)), *([i] for i in alone)]


def panel_of_shuffles(
    judge: OrderedJudge, *, shuffles: int = 3, combine: Combine = "median"
) -> PanelJudge:
    """A panel of one judge that sees its batches in several orders.

    Args:
        judge: the judge.
        shuffles: votes a row, 2 or more.
        combine: as for `PanelJudge`.

    Raises:
        UsageError: fewer than two shuffles.
    """
    return PanelJudge([ShuffledJudge(judge, i) for i in range(shuffles)], combine=combine)


def members_of(judge: Judge) -> tuple[Judge, ...]:
    """The judges whose answers `judge` gives: panels opened, each judge once; else itself alone.

    An honesty rule must hold for each, beside the panel's own version and fingerprint, which name
    none of them.

    Args:
        judge: any judge; one with a non-empty `members` speaks for those.
    """
    members: Sequence[Judge] = getattr(judge, "members", ())
    if not members:
        return (judge,)
    found = [leaf for member in members for leaf in members_of(member)]
    return tuple({leaf.fingerprint: leaf for leaf in found}.values())


def _failed(candidate: Candidate, votes: Sequence[JudgedHit], there: int) -> JudgedHit:
    failures = [vote for vote in votes if vote.error is not None]
    ((error, _),) = Counter(vote.error for vote in failures).most_common(1)
    first = next(vote for vote in failures if vote.error is error)
    return JudgedHit(
        id=candidate.id,
        grade=0,
        esci=first.esci,
        reason=ERROR_REASON,
        error=error or GradeError.MISSING,
        detail=f"{there} of {len(votes)} votes: {first.detail}",
        usage=_paid(votes),
    )


def _paid(votes: Sequence[JudgedHit]) -> Usage:
    """The tokens of all votes: each was paid for."""
    return sum((vote.usage for vote in votes), start=NO_USAGE)


def _most_frequent(grades: Sequence[int]) -> int:
    counts = Counter(grades)
    most = max(counts.values())
    return min(grade for grade, count in counts.items() if count == most)


def _common(values: Sequence[str | None]) -> str | None:
    return values[0] if len(set(values)) == 1 else None


def _one_scale(judges: Sequence[Judge]) -> Rubric | None:
    rubrics = [r for judge in judges if isinstance(r := getattr(judge, "rubric", None), Rubric)]
    scales = {tuple(sorted((label.code, label.grade) for label in r.labels)) for r in rubrics}
    if len(scales) > 1:
        raise UsageError("the panel's judges grade on different scales; give them one rubric")
    return rubrics[0] if rubrics else None


def _digest(value: object) -> str:
    """Hex SHA-256 of the JSON of `value`; lone surrogates are escaped there."""
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()
