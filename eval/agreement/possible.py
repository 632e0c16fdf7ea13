"""Which grades people may have given where a judge gave one, out of a calibration's table. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from relgate.rubrics.errors import UsageError

__all__ = ["possible_grades"]

_ROUNDING = 1e-9  # 0.95 of 20 is 19, whatever the last bit says


def possible_grades(table: Sequence[Sequence[int]], *, level: float) -> tuple[tuple[int, ...], ...]:
    """For each grade of the judge's, the grades that stay possible, rising.

    The most frequent grades of people in that column, as few as hold `level` x (n + 1) of its n
    pairs; of equally frequent ones all, and always the judge's own. The + 1 is that of conformal
    prediction (Vovk, Gammerman & Shafer 2005): the pair to come counts too. So a column of fewer
    than level / (1 - level) pairs (19 at 0.95) rules out nothing.

    Args:
        table: counts, rows people, columns judge, as `Calibration.table`.
        level: share of people's grades that must stay possible, above 0 and below 1. It holds for
            each grade by itself, not for all documents of a review at once.

    Raises:
        UsageError: a level outside (0, 1).
    """
    if not 0 < level < 1:
        raise UsageError(f"the judge-error level is {level}; it must be above 0 and below 1")
    columns = zip(*table, strict=True)
    return tuple(_of_column(column, own, level) for own, column in enumerate(columns))


def _of_column(column: Sequence[int], own: int, level: float) -> tuple[int, ...]:
    needed = ceil(level * (sum(column) + 1) - _ROUNDING)
    if needed > sum(column):
        return tuple(range(len(column)))
    rarest, held = 0, 0
    for count in sorted(column, reverse=True):
        if held >= needed and count < rarest:
            break
        rarest, held = count, held + count
    return tuple(g for g, count in enumerate(column) if count >= max(rarest, 1) or g == own)
