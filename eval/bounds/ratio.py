"""Exact bounds of NDCG, or of its before/after delta, over every grade that stays possible. Pure.

Both are one form, (base + sum of gain x weight) / ideal: for one side a document's weight is its
discount there, for the delta the discount after minus the discount before. For a fixed multiset
of grades the ideal is constant and the numerator linear in the gains, so by the rearrangement
inequality the greatest value gives the greatest gains to the greatest weights, and the least to
the least. What is left is to go through the multisets: C(m + levels - 1, levels - 1) of them,
1,771 for 20 documents on four levels.

Where documents differ in the grades that stay possible (unrated: all; graded by a judge that may
err: some), those that agree make a group, and each group has its own multisets. The ideal looks at
how many documents have each grade in all, so the groups' numerators are joined count by count:
for each total the greatest sum over the ways to make it up, as in a knapsack. Still exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations_with_replacement
from math import comb, nan, prod

import numpy as np
from numpy.typing import NDArray

from relgate.eval.metrics.kernel import ideal_dcg

__all__ = ["MAX_CELLS", "Group", "Interval", "ratio_bounds"]

MAX_CELLS = 250_000
"""Beyond so many totals (or multisets of one group) the bounds are outer ones, and say so."""

_MAX_STEPS = 100_000_000  # totals x multisets to join: some tenths of a second

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Interval:
    """The least and the greatest value over all fills.

    Attributes:
        low: the least; NaN both when the value is undefined in every fill.
        high: the greatest.
        exact: both are reached by some fill. Else they are outer bounds: no fill leaves them, and
            it is not proven that one reaches them.
    """

    low: float
    high: float
    exact: bool = True

    @property
    def width(self) -> float:
        """High minus low."""
        return self.high - self.low


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Documents that may get the same grades.

    Attributes:
        weights: of each document, shape (m,).
        levels: the grades that stay possible for each of them, rising.
    """

    weights: _Floats
    levels: tuple[int, ...]

    @property
    def multisets(self) -> int:
        """How many multisets of grades its documents can get."""
        return comb(len(self.weights) + len(self.levels) - 1, len(self.levels) - 1)


@dataclass(frozen=True, slots=True, eq=False)
class _Sums:
    """How many documents get each grade above 0, and what the numerator then is at the extremes.

    Attributes:
        counts: shape (N, levels - 1).
        low: the least numerator, shape (N,).
        high: the greatest.
    """

    counts: _Ints
    low: _Floats
    high: _Floats


def ratio_bounds(
    base: float,
    groups: Sequence[Group],
    hist: _Ints,
    gains: _Floats,
    k: int,
    *,
    max_cells: int = MAX_CELLS,
) -> Interval:
    """Bounds of (base + sum gain_i weight_i) / ideal over all grades that stay possible.

    A fill without an ideal has no value and bounds nothing.

    Args:
        base: what the documents of one grade add up to.
        groups: the others.
        hist: documents of one grade, how many of each; shape (levels,).
        gains: the gain of each grade, shape (levels,), rising from 0.
        k: depth of the ideal.
        max_cells: beyond so many totals, outer bounds.
    """
    kept = sorted((_within(group, k) for group in groups), key=lambda g: -g.multisets)
    if not _affordable(kept, len(gains), max_cells):
        return _outer(base, kept, hist, gains, k)
    sums = _joined([_sums(group, gains) for group in kept], len(gains))
    fills = np.insert(sums.counts, 0, 0, axis=1)  # grade 0 gains nothing, so its count is no matter
    ideal = ideal_dcg(hist + fills, gains, k)
    defined = ideal > 0
    if not defined.any():
        return Interval(nan, nan)
    low = (base + sums.low)[defined] / ideal[defined]
    high = (base + sums.high)[defined] / ideal[defined]
    return Interval(float(low.min()), float(high.max()))


def _within(group: Group, k: int) -> Group:
    """The group with at most k of its documents that stand nowhere: the ideal sees no more."""
    nowhere = np.flatnonzero(group.weights == 0)
    if len(nowhere) <= k:
        return group
    return Group(np.delete(group.weights, nowhere[k:]), group.levels)


def _affordable(groups: Sequence[Group], n_levels: int, max_cells: int) -> bool:
    if len(groups) < 2:  # noqa: PLR2004 - nothing to join
        return max((group.multisets for group in groups), default=1) <= max_cells
    cells = prod(_radices(groups, n_levels))
    return cells <= max_cells and cells * sum(g.multisets for g in groups[1:]) <= _MAX_STEPS


def _radices(groups: Sequence[Group], n_levels: int) -> list[int]:
    """Per grade above 0, one more than how many documents can get it."""
    return [
        1 + sum(len(group.weights) for group in groups if level in group.levels)
        for level in range(1, n_levels)
    ]


def _sums(group: Group, gains: _Floats) -> _Sums:
    grades, counts = _multisets(len(group.weights), group.levels, len(gains))
    given, falling = gains[grades], np.sort(group.weights)[::-1]
    return _Sums(counts, given @ falling[::-1], given @ falling)


@lru_cache(maxsize=256)
def _multisets(m: int, levels: tuple[int, ...], n_levels: int) -> tuple[NDArray[np.int8], _Ints]:
    """Every multiset of `m` grades, best first (M, m); and how many are of each grade above 0."""
    rows = list(combinations_with_replacement(levels[::-1], m))
    grades = np.array(rows, np.int8).reshape(len(rows), m)
    counts = [(grades == g).sum(axis=1) for g in range(1, n_levels)]
    return grades, np.stack(counts, axis=1).astype(np.int64)


def _joined(parts: Sequence[_Sums], n_levels: int) -> _Sums:
    """The extremes of the groups together, for each total of documents a grade."""
    if not parts:
        return _Sums(np.zeros((1, n_levels - 1), np.int64), np.zeros(1), np.zeros(1))
    if len(parts) == 1:
        return parts[0]
    most: list[int] = np.stack([p.counts.max(axis=0) for p in parts]).sum(axis=0).tolist()
    shape = tuple(n + 1 for n in most)
    strides = np.array([prod(shape[i + 1 :]) for i in range(len(shape))], np.int64)
    high = _best([part.counts @ strides for part in parts], [p.high for p in parts], prod(shape))
    low = _best([part.counts @ strides for part in parts], [-p.low for p in parts], prod(shape))
    reached = np.flatnonzero(high > -np.inf)
    counts = np.stack(np.unravel_index(reached, shape), axis=1).astype(np.int64)
    return _Sums(counts, -low[reached], high[reached])


def _best(codes: Sequence[_Ints], values: Sequence[_Floats], cells: int) -> _Floats:
    """The greatest sum of one value of each part, by the sum of their codes; -inf where none."""
    total = np.full(cells, -np.inf)
    total[codes[0]] = values[0]
    for part, worth in zip(codes[1:], values[1:], strict=True):
        so_far, total = total, np.full(cells, -np.inf)
        for code, value in zip(part.tolist(), worth.tolist(), strict=True):
            np.maximum(total[code:], so_far[: cells - code] + value, out=total[code:])
    return total


def _outer(base: float, groups: Sequence[Group], hist: _Ints, gains: _Floats, k: int) -> Interval:
    """Numerator and ideal bounded apart: true bounds lie within."""
    fewest, fullest = hist.copy(), hist.copy()
    least = most = base
    for group in groups:
        ends = np.outer(gains[[group.levels[0], group.levels[-1]]], group.weights)
        least += float(ends.min(axis=0).sum())
        most += float(ends.max(axis=0).sum())
        fewest[group.levels[0]] += len(group.weights)
        fullest[group.levels[-1]] += len(group.weights)
    small, large = ideal_dcg(np.stack([fewest, fullest]), gains, k).tolist()
    return Interval(
        max(_over(least, small if least < 0 else large), -1.0),
        min(_over(most, small if most > 0 else large), 1.0),
        exact=False,
    )


def _over(numerator: float, ideal: float) -> float:
    if ideal > 0:
        return numerator / ideal
    return 0.0 if numerator == 0 else float(np.copysign(np.inf, numerator))
