"""Exact bounds of NDCG, or of its before/after delta, over every grade of the unrated. Pure.

Both are one form, (base + sum of gain x weight) / ideal: for one side a document's weight is its
discount there, for the delta the discount after minus the discount before. For a fixed multiset
of grades the ideal is constant and the numerator linear in the gains, so by the rearrangement
inequality the greatest value gives the greatest gains to the greatest weights, and the least to
the least. What is left is to go through the multisets: C(m + levels - 1, levels - 1) of them,
1,771 for 20 documents on four levels.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations_with_replacement
from math import comb, nan

import numpy as np
from numpy.typing import NDArray

from relgate.eval.metrics.kernel import ideal_dcg

__all__ = ["MAX_MULTISETS", "Interval", "ratio_bounds"]

MAX_MULTISETS = 50_000
"""Beyond so many multisets of grades the bounds are outer ones, and say so."""

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
class _Multisets:
    """Every multiset of `m` grades: as counts a level (M, levels), and best first (M, m)."""

    counts: _Ints
    best_first: NDArray[np.int8]


def ratio_bounds(
    base: float,
    weights: _Floats,
    hist: _Ints,
    gains: _Floats,
    k: int,
    *,
    max_multisets: int = MAX_MULTISETS,
) -> Interval:
    """Bounds of (base + sum gain_i weight_i) / ideal over all grades of the unrated documents.

    A fill without an ideal has no value and bounds nothing.

    Args:
        base: what the rated documents add up to.
        weights: of each unrated document, shape (m,).
        hist: rated documents of each grade, shape (levels,).
        gains: the gain of each grade, shape (levels,), rising from 0.
        k: depth of the ideal.
        max_multisets: beyond so many, outer bounds.
    """
    levels = len(gains)
    if comb(len(weights) + levels - 1, levels - 1) > max_multisets:
        return _outer(base, weights, hist, gains, k)
    sets = _multisets(len(weights), levels)
    ideal = ideal_dcg(hist + sets.counts, gains, k)
    defined = ideal > 0
    if not defined.any():
        return Interval(nan, nan)
    given = gains[sets.best_first]
    falling = np.sort(weights)[::-1]
    high = (base + given @ falling)[defined] / ideal[defined]
    low = (base + given @ falling[::-1])[defined] / ideal[defined]
    return Interval(float(low.min()), float(high.max()))


@lru_cache(maxsize=128)
def _multisets(m: int, levels: int) -> _Multisets:
    rows = list(combinations_with_replacement(range(levels - 1, -1, -1), m))
    best_first = np.array(rows, np.int8).reshape(len(rows), m)
    counts = np.stack([(best_first == g).sum(axis=1) for g in range(levels)], axis=1)
    return _Multisets(counts.astype(np.int64), best_first)


def _outer(base: float, weights: _Floats, hist: _Ints, gains: _Floats, k: int) -> Interval:
    """Numerator and ideal bounded apart: true bounds lie within."""
    top = float(gains[-1])
    most = base + top * float(np.maximum(weights, 0).sum())
    least = base + top * float(np.minimum(weights, 0).sum())
    full = hist.copy()
    full[-1] += len(weights)
    small, large = ideal_dcg(np.stack([hist, full]), gains, k).tolist()
    return Interval(
        max(_over(least, small if least < 0 else large), -1.0),
        min(_over(most, small if most > 0 else large), 1.0),
        exact=False,
    )


def _over(numerator: float, ideal: float) -> float:
    if ideal > 0:
        return numerator / ideal
    return 0.0 if numerator == 0 else float(np.copysign(np.inf, numerator))
