"""A judge that answers from batches, and puts off what they do not hold. Reads through its job."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from relgate.eval.batch.units import Units
from relgate.judge.around import JudgeAround
from relgate.judge.types import Candidate, GradeError, JudgedHit

__all__ = ["BatchedJudge"]


class BatchedJudge(JudgeAround):
    """A `Judge` around one whose requests go through a `RequestBook`.

    A group of documents is graded whole: as long as one of its requests has no answer, all of its
    rows are `not-asked`, so that its grades are those of a live call.

    Args:
        inner: the judge.
        rubric: what its grades mean.

    Attributes:
        units: the groups; set before the first grade.
        partial: whether a group gives what it has, for nothing more will come.
    """

    units: Units
    partial = False

    async def grade(self, query: str, candidates: Sequence[Candidate]) -> list[JudgedHit]:
        """One row a candidate, in their order; new ones become a group."""
        fresh = [c for c in candidates if self.units.place(query, c) is None]
        if fresh:
            self.units.add(query, fresh)
        found = [place for c in candidates if (place := self.units.place(query, c)) is not None]
        groups = {number: await self.unit(number) for number in {number for number, _ in found}}
        return [
            replace(groups[number][row], id=candidate.id)
            for candidate, (number, row) in zip(candidates, found, strict=True)
        ]

    async def unit(self, number: int) -> list[JudgedHit]:
        """The rows of one group."""
        query, candidates = self.units.get(number)
        hits = await self._inner.grade(query, candidates)
        late = next((hit for hit in hits if hit.error is GradeError.NOT_ASKED), None)
        if late is not None and not self.partial:
            return [replace(late, id=candidate.id) for candidate in candidates]
        return [replace(hit, usage=replace(hit.usage, batch=True)) for hit in hits]
