"""R14 and R17 over every fill: what chance could explain, where no grade is certain. Pure.

Both end on p values of sign-flip tests, which `sign_flip_bounds` bounds where the number of
queries is certain. Holm's adjusted p of a stratum falls with no p and with no further stratum
(Holm's is the closed test of Bonferroni's), so the least come from the least p over the strata that
are surely large enough, the greatest from the greatest over those that may be.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relgate.eval.bounds.marks import Marks
from relgate.eval.bounds.means import mean_bounds
from relgate.eval.bounds.ratio import Interval
from relgate.eval.bounds.table import BoundsTable
from relgate.eval.metrics.compare import holm, sign_flip_bounds
from relgate.eval.review.settings import ReviewSettings
from relgate.eval.review.types import TOLERANCE, Verdict

__all__ = ["noise_range", "strata_range"]

_MIN_QUERIES = 2  # one delta tells no spread

_Range = tuple[Verdict, Verdict]
_Bools = NDArray[np.bool_]


def noise_range(table: BoundsTable, marks: Marks, settings: ReviewSettings) -> _Range:
    """R17: fails where an improvement is claimed and p is not below its limit."""
    if not marks.improve:
        return Verdict.APPROVE, Verdict.APPROVE
    if table.maybe.any():
        return Verdict.APPROVE, Verdict.NEEDS_WORK
    if int(table.sure.sum()) < max(settings.min_noise_queries, _MIN_QUERIES):
        return Verdict.APPROVE, Verdict.APPROVE
    least, most = _p_bounds(table, table.sure, marks.seed)
    return _fails(not least < settings.max_p), _fails(not most < settings.max_p)


def _p_bounds(table: BoundsTable, queries: _Bools, seed: int) -> tuple[float, float]:
    values = table.primary[queries]
    return sign_flip_bounds(values[:, 0], values[:, 1], seed=seed)


def _fails(when: bool) -> Verdict:  # noqa: FBT001 - a condition
    return Verdict.NEEDS_WORK if when else Verdict.APPROVE


@dataclass(frozen=True, slots=True)
class _Stratum:
    """One stratum over every fill: its budget, mean delta and p, and whether it is large enough."""

    limit: float
    mean: Interval
    p: tuple[float, float]
    sure: bool
    may: bool


def strata_range(table: BoundsTable, marks: Marks, settings: ReviewSettings) -> _Range:
    """R14: fails where a large stratum dropped over its budget, beyond chance."""
    strata = [
        _bounded(table, mask, marks.seed, settings, settings.budget_of(name))
        for name, mask in marks.strata.items()
    ]
    surely, maybe = [s for s in strata if s.sure], [s for s in strata if s.may]
    most = dict(zip(map(id, maybe), holm([s.p[1] for s in maybe]), strict=True))
    must = any(s.mean.high < s.limit and most[id(s)] < settings.max_stratum_p for s in surely)
    can = any(
        s.mean.low < s.limit and _least_holm(s, surely) < settings.max_stratum_p for s in maybe
    )
    return _fails(must), _fails(must or can)


def _least_holm(one: _Stratum, surely: list[_Stratum]) -> float:
    """Its least adjusted p: among the strata that are tested in every fill, and itself."""
    others = [s for s in surely if s is not one]
    return holm([one.p[0], *(s.p[0] for s in others)])[0]


def _bounded(
    table: BoundsTable, mask: _Bools, seed: int, settings: ReviewSettings, budget: float
) -> _Stratum:
    sure, maybe = mask & table.sure, mask & table.maybe
    values, least = table.primary, max(settings.min_stratum_queries, 1)
    n, more = int(sure.sum()), int(maybe.sum())
    return _Stratum(
        limit=-budget - TOLERANCE,
        mean=mean_bounds(values[:, 0], values[:, 1], sure, maybe),
        p=(0.0, 1.0) if more else _p_bounds(table, sure, seed),
        sure=n >= least,
        may=n + more >= least,
    )
