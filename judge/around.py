"""A judge around another one, which it says it is: the base of those that look after its rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from relgate.judge.parts import PartName, shown_parts
from relgate.judge.sync import run_sync
from relgate.judge.types import Candidate, Judge, JudgedHit
from relgate.rubrics import Rubric

__all__ = ["JudgeAround"]


class JudgeAround(ABC):
    """A `Judge` around another, of the same version and fingerprint.

    Only for one whose grades are those of the inner judge: what changes a grade has a fingerprint
    of its own.

    Args:
        inner: the judge.
        rubric: what its grades mean; by default the inner judge's own, where it has one.
    """

    def __init__(self, inner: Judge, rubric: Rubric | None = None) -> None:
        self.version = inner.version
        self.fingerprint = inner.fingerprint
        self.model = inner.model
        self.family = inner.family
        self.batch_size = inner.batch_size
        self.rubric: Rubric | None = rubric or getattr(inner, "rubric", None)
        self._inner = inner

    @property
    def parts(self) -> Mapping[PartName, str] | None:
        """The inner judge's, where it shows them: what its fingerprint is made of."""
        return shown_parts(self._inner)

    @abstractmethod
    async def grade(self, query: str, candidates: Sequence[Candidate]) -> list[JudgedHit]:
        """One row a candidate, in their order. Never raises for a failed grade."""

    def grade_sync(self, query: str, candidates: Sequence[Candidate]) -> list[JudgedHit]:
        """As `grade`, for callers without an event loop.

        Raises:
            UsageError: called from inside an event loop.
        """
        return run_sync(self.grade(query, candidates))
