"""Which grades of its scale a list uses, and what is odd about that. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relgate.eval.lists.types import JudgmentList, Scale

__all__ = ["GradesUsed", "no_zero", "two_grades"]

_ENOUGH = 20
"""Fewer pairs may well miss a grade."""


@dataclass(frozen=True, slots=True)
class GradesUsed:
    """How often a list uses each grade of its scale.

    Attributes:
        scale: the scale.
        counts: per grade from 0, how many pairs have it; shape (levels,).
    """

    scale: Scale
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, judgments: JudgmentList) -> GradesUsed:
        """Those of a list."""
        levels = judgments.scale.max_grade + 1
        return cls(judgments.scale, np.bincount(judgments.grade, minlength=levels))

    def __add__(self, other: GradesUsed) -> GradesUsed:
        return GradesUsed(self.scale, self.counts + other.counts)

    @property
    def used(self) -> list[int]:
        """The grades that occur, least first; empty for a list too short to tell."""
        if self.counts.sum() < _ENOUGH:
            return []
        used: list[int] = np.flatnonzero(self.counts).tolist()
        return used


def no_zero(grades: GradesUsed) -> str | None:
    """What a list of 20 pairs and more without any grade 0 may be; None for others."""
    used, scale = grades.used, grades.scale
    if not used or used[0] == 0:
        return None
    counted = scale.max_grade == 3 and used[-1] > 1  # noqa: PLR2004 - what 1-4 maps to
    return (
        f"no pair has grade 0: the least is {used[0]} on the scale {scale.name}; either "
        "nobody kept what is irrelevant, or the file counts from another number than 0"
        + (": --scale 1-4 reads 1 as 0" if counted else "")
    )


def two_grades(grades: GradesUsed) -> str | None:
    """What a list of 20 pairs and more with two grades on a longer scale is; None for others."""
    used, scale = grades.used, grades.scale
    if len(used) != 2 or used[0] != 0 or scale.max_grade < 2:  # noqa: PLR2004 - two
        return None
    mend = ": --scale 0-1 reads it as binary" if used[1] == 1 else ""
    return (
        f"grades 0 and {used[1]} only: a binary list on the scale {scale.name}, so the "
        f"grades in between never count{mend}"
    )
