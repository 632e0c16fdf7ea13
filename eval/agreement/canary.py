"""Has the judge moved? A frozen set of pairs graded anew beside what it said then. Pure.

Each pair was graded twice when the set was frozen, so the judge's own flips are known. Three
tests, Holm-adjusted: exact McNemar at the floor (more relevant, or fewer), Stuart-Maxwell over all
grades (another distribution), and exact McNemar of pairs that changed now against pairs that
flipped then (another judge of the same distribution). Sources: McNemar 1947; Stuart 1955; Maxwell
1970.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relgate.eval.agreement.confusion import confusion_table
from relgate.eval.agreement.tails import binomial_two_sided, chi_squared_tail
from relgate.eval.metrics.compare import holm
from relgate.rubrics.errors import InputError

__all__ = ["ALARM_P", "Drift", "Moved", "drift_of", "mcnemar_p", "stuart_maxwell", "what_moved"]

ALARM_P = 0.05
"""A smaller Holm-adjusted p of any of the three tests is an alarm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """How a judge's grades of a frozen set differ from those of then.

    Attributes:
        pairs: pairs graded then and now.
        changed: pairs with another grade now.
        flipped_then: pairs that two gradings at freezing graded differently.
        mean_shift: mean grade now less then.
        rose: pairs that rose over the floor.
        fell: pairs that fell below it.
        floor_p: exact McNemar at the floor, Holm-adjusted.
        grades_p: Stuart-Maxwell over all grades, Holm-adjusted; 1 where no margin differs.
        flips_p: exact McNemar of changes now against flips then, Holm-adjusted; 1 where no more
            changed now.
        moved: whether one of them is below `ALARM_P`.
    """

    pairs: int
    changed: int
    flipped_then: int
    mean_shift: float
    rose: int
    fell: int
    floor_p: float
    grades_p: float
    flips_p: float
    moved: bool


def mcnemar_p(one: int, other: int) -> float:
    """Exact two-sided p of McNemar's test on the two discordant counts; 1 without any."""
    return binomial_two_sided(one, one + other)


def stuart_maxwell(table: ArrayLike) -> tuple[float, int, float]:
    """Statistic, degrees of freedom and p of marginal homogeneity of a (K, K) table.

    Grades that neither side used are left out; equal margins give (0, 0, 1).
    """
    t = np.asarray(table, float)
    used = np.flatnonzero(t.sum(axis=0) + t.sum(axis=1))
    t = t[np.ix_(used, used)]
    rows, columns = t.sum(axis=1), t.sum(axis=0)
    gap = (rows - columns)[:-1]
    if not gap.any():
        return 0.0, 0, 1.0
    spread = np.diag(rows + columns - 2 * np.diag(t)) - (t + t.T) * (1 - np.eye(len(t)))
    spread = spread[:-1, :-1]
    freedom = int(np.linalg.matrix_rank(spread))
    statistic = float(gap @ np.linalg.pinv(spread) @ gap)
    return statistic, freedom, chi_squared_tail(statistic, freedom)


def drift_of(
    then: NDArray[np.int64],
    again: NDArray[np.int64],
    now: NDArray[np.int64],
    *,
    n_grades: int,
    floor: int,
) -> Drift:
    """The drift of the pairs that have a grade each time.

    Args:
        then: (n,) the frozen grades.
        again: (n,) the second grading at freezing.
        now: (n,) today's.
        n_grades: size of the scale.
        floor: least grade that counts as relevant.

    Raises:
        InputError: no pair, columns of different length, or a grade off the scale.
    """
    if not len(then) or len(again) != len(then):
        raise InputError(f"{len(then)} frozen grades beside {len(again)} repeats")
    table = confusion_table(then, now, n_grades=n_grades)
    rose = int(((then < floor) & (now >= floor)).sum())
    fell = int(((then >= floor) & (now < floor)).sum())
    changed, flipped = now != then, again != then
    more, fewer = int((changed & ~flipped).sum()), int((flipped & ~changed).sum())
    flips = mcnemar_p(more, fewer) if more > fewer else 1.0
    floor_p, grades_p, flips_p = holm([mcnemar_p(rose, fell), stuart_maxwell(table)[2], flips])
    return Drift(
        pairs=len(then),
        changed=int(changed.sum()),
        flipped_then=int(flipped.sum()),
        mean_shift=float(now.mean() - then.mean()),
        rose=rose,
        fell=fell,
        floor_p=floor_p,
        grades_p=grades_p,
        flips_p=flips_p,
        moved=min(floor_p, grades_p, flips_p) < ALARM_P,
    )


class Moved(StrEnum):
    """What a changed metric is to be put down to."""

    NOTHING = "nothing moved"
    JUDGE = "the judge moved"
    SEARCH = "search moved"
    BOTH = "the judge moved, so the metric's change cannot be put down to search"


def what_moved(drift: Drift, *, metric_p: float | None) -> Moved:
    """The verdict on the judge against search.

    Args:
        drift: of the canary.
        metric_p: p of the metric's change; None where none was given.
    """
    changed = metric_p is not None and metric_p < ALARM_P
    if drift.moved:
        return Moved.BOTH if changed else Moved.JUDGE
    return Moved.SEARCH if changed else Moved.NOTHING
