"""Which grades of its scale a list uses, and what is odd about that. Pure."""

from __future__ import annotations

import numpy as np

from relgate.eval.lists.types import JudgmentList

__all__ = ["no_zero", "two_grades"]

_ENOUGH = 20
"""Fewer pairs may well miss a grade."""


def no_zero(judgments: JudgmentList) -> str | None:
    """What a list of 20 pairs and more without any grade 0 may be; None for others."""
    used = _used(judgments)
    if not used or used[0] == 0:
        return None
    counted = judgments.scale.max_grade == 3 and used[-1] > 1  # noqa: PLR2004 - what 1-4 maps to
    return (
        f"no pair has grade 0: the least is {used[0]} on the scale {judgments.scale.name}; either "
        "nobody kept what is irrelevant, or the file counts from another number than 0"
        + (": --scale 1-4 reads 1 as 0" if counted else "")
    )


def two_grades(judgments: JudgmentList) -> str | None:
    """What a list of 20 pairs and more with two grades on a longer scale is; None for others."""
    used = _used(judgments)
    if len(used) != 2 or used[0] != 0 or judgments.scale.max_grade < 2:  # noqa: PLR2004 - two
        return None
    mend = ": --scale 0-1 reads it as binary" if used[1] == 1 else ""
    return (
        f"grades 0 and {used[1]} only: a binary list on the scale {judgments.scale.name}, so the "
        f"grades in between never count{mend}"
    )


def _used(judgments: JudgmentList) -> list[int]:
    """The grades that occur, least first; empty for a list too short to tell."""
    if len(judgments) < _ENOUGH:
        return []
    used: list[int] = np.unique(judgments.grade).tolist()
    return used
