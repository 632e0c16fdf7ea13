"""A share with its interval, and what it says against a limit. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from math import sqrt

__all__ = ["Rate", "Verdict", "share", "worst"]

_Z_95 = 1.959964


class Verdict(StrEnum):
    """What a check says. A rate that could not be measured never passes."""

    WITHIN = "within"
    FLAGGED = "flagged"
    UNMEASURED = "unmeasured"


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of `n` with its 95 % Wilson interval; all three None when n is 0."""

    n: int
    point: float | None
    low: float | None
    high: float | None

    def against(self, limit: float) -> Verdict:
        """Flagged when the point is above `limit`."""
        if self.point is None:
            return Verdict.UNMEASURED
        return Verdict.FLAGGED if self.point > limit else Verdict.WITHIN

    def proves(self, limit: float) -> bool:
        """Whether the whole interval lies within `limit`: enough was asked to be sure."""
        return self.high is not None and self.high <= limit


def share(count: float, n: int) -> Rate:
    """`count` of `n` as a rate with its interval (Wilson 1927, z = 1.96).

    `count` may be fractional, where each of the n contributes a share of its own between 0 and 1:
    n is then the number of items and not of gradings, as if the gradings of one item were one.
    That is conservative, because a share's variance is at most that of a yes or no.
    """
    if n <= 0:
        return Rate(0, None, None, None)
    p, z2 = count / n, _Z_95**2
    middle = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = _Z_95 * sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    low = 0.0 if count <= 0 else max(0.0, middle - half)
    high = 1.0 if count >= n else min(1.0, middle + half)
    return Rate(n, p, low, high)


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Flagged before unmeasured before within; unmeasured when there is none."""
    found = set(verdicts)
    for verdict in (Verdict.FLAGGED, Verdict.UNMEASURED, Verdict.WITHIN):
        if verdict in found:
            return verdict
    return Verdict.UNMEASURED
