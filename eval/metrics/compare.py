"""Compares two scored runs: deltas per query, and what chance alone would do. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, isnan, nan, sqrt

import numpy as np
from numpy.typing import NDArray

from relgate.eval.metrics.conventions import Metric
from relgate.eval.metrics.types import RunScores
from relgate.rubrics.errors import UsageError

__all__ = [
    "TOLERANCE",
    "Comparison",
    "bootstrap_interval",
    "compare",
    "compare_values",
    "effect_size",
    "holm",
    "minimum_detectable_effect",
    "queries_needed",
    "sign_flip_bounds",
    "sign_flip_p",
]

TOLERANCE = 1e-9
"""Deltas within this are equal: the rest is rounding."""

_EXACT_UP_TO = 20  # 2^20 sign patterns are enumerated, more are drawn
_BITS = 8
_BLOCK_CELLS = 1 << 19  # float64 cells of a scratch block: 4 MB
_MDE_FACTOR = 2.80  # z(.975) + z(.80)

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """One metric on two sides, over the queries that have a value on both.

    Attributes:
        name: the metric with its convention.
        index: the paired queries, as indices on the axis; shape (n,).
        before: values before, shape (n,).
        after: values after, shape (n,).
        deltas: after - before, shape (n,).
        before_only: indices of queries with a value before and none after.
        after_only: indices of queries with a value after and none before.
        threshold: how far a query must drop to count as dropped.
    """

    name: str
    index: _Ints
    before: _Floats
    after: _Floats
    deltas: _Floats
    before_only: _Ints
    after_only: _Ints
    threshold: float

    @property
    def n(self) -> int:
        """Paired queries."""
        return len(self.deltas)

    @property
    def improved(self) -> int:
        """Queries whose value rose."""
        return int((self.deltas > TOLERANCE).sum())

    @property
    def worse(self) -> int:
        """Queries whose value fell."""
        return int((self.deltas < -TOLERANCE).sum())

    @property
    def dropped(self) -> int:
        """Queries whose value fell by more than the threshold; a fall equal to it is no drop."""
        return int((self.deltas < -self.threshold - TOLERANCE).sum())

    @property
    def mean_before(self) -> float:
        """Mean before, over the paired queries; NaN over none."""
        return _mean(self.before)

    @property
    def mean_after(self) -> float:
        """Mean after, over the paired queries; NaN over none."""
        return _mean(self.after)

    @property
    def mean_delta(self) -> float:
        """Mean of the deltas; NaN over none."""
        return _mean(self.deltas)


def compare(
    before: RunScores, after: RunScores, metric: Metric, *, threshold: float = 0.10
) -> Comparison:
    """Pairs two scored runs query by query.

    Only queries that count in the mean of `metric` are paired. A query that failed or is missing
    on one side counts there as 0; one whose documents the file does not list is in `before_only`
    or `after_only`.

    Raises:
        UsageError: the sides have other queries, conventions or judgments.
    """
    if before.queries != after.queries:
        raise UsageError("the two sides are on different axes; align both runs in one call")
    if before.conventions != after.conventions:
        raise UsageError(
            f"the two sides have different conventions: {before.conventions.asdict()} and "
            f"{after.conventions.asdict()}"
        )
    same_list = np.array_equal(before.ideal, after.ideal, equal_nan=True)
    if not (same_list and np.array_equal(before.relevant, after.relevant)):
        raise UsageError("the two sides were scored against different judgments")
    sides = (
        np.where(side.counted(metric), side.values[metric], np.nan) for side in (before, after)
    )
    return compare_values(*sides, name=before.conventions.name(metric), threshold=threshold)


def compare_values(
    before: _Floats, after: _Floats, *, name: str, threshold: float = 0.10
) -> Comparison:
    """Pairs two arrays of values; a NaN is no value, neither 0 nor dropped in silence.

    Raises:
        UsageError: arrays of different shapes, an infinite value, or a threshold below 0.
    """
    if before.shape != after.shape:
        raise UsageError(f"{len(before)} values before and {len(after)} after cannot be paired")
    if np.isinf(before).any() or np.isinf(after).any():
        raise UsageError("a value is infinite")
    if not threshold >= 0:
        raise UsageError(f"the drop threshold is {threshold}; it must be 0 or more")
    has_before, has_after = ~np.isnan(before), ~np.isnan(after)
    index = np.flatnonzero(has_before & has_after)
    return Comparison(
        name=name,
        index=index,
        before=before[index],
        after=after[index],
        deltas=after[index] - before[index],
        before_only=np.flatnonzero(has_before & ~has_after),
        after_only=np.flatnonzero(has_after & ~has_before),
        threshold=threshold,
    )


def sign_flip_p(deltas: _Floats, *, flips: int = 10_000, seed: int = 0) -> float:
    """Two-sided p of the sign-flip randomisation test on the mean delta, 0 < p <= 1.

    The share of sign patterns whose mean is at least as far from 0. Exact when at most 20 deltas
    differ from 0 (a zero delta changes nothing), else from `flips` seeded patterns, the observed
    one counted in (Smucker et al. 2007; Phipson & Smyth 2010). NaN over no delta.

    Raises:
        UsageError: a delta is not finite, or no flips.
    """
    _require_finite(deltas)
    if flips < 1:
        raise UsageError(f"{flips} flips; at least 1 is needed")
    if not len(deltas):
        return float("nan")
    moved = deltas[deltas != 0]
    if len(moved) <= _EXACT_UP_TO:
        return _exact_p(moved)
    return _drawn_p(deltas, flips=flips, seed=seed)


def sign_flip_bounds(
    low: _Floats, high: _Floats, *, flips: int = 10_000, seed: int = 0
) -> tuple[float, float]:
    """The least and the greatest `sign_flip_p` of deltas that lie between `low` and `high`.

    While the mean is above 0, a sign pattern is as far from 0 just when the deltas that it turns,
    or the others, sum to 0 or less. So p falls as any delta rises, and below 0 it rises: its ends
    are at the corners. That holds for one set of patterns; which one is used depends on how many
    deltas are 0, so where that can go either way nothing is said: (0, 1).

    Args:
        low: the least each delta can be, shape (n,).
        high: the greatest.
        flips: as for `sign_flip_p`.
        seed: likewise.
    """
    surely_moved = int(((low > 0) | (high < 0)).sum())
    if not len(low) or len(low) > _EXACT_UP_TO >= surely_moved:
        return 0.0, 1.0

    def p(deltas: _Floats) -> float:
        exact = len(deltas) <= _EXACT_UP_TO
        return _exact_p(deltas) if exact else _drawn_p(deltas, flips=flips, seed=seed)

    least, most = float(low.sum()), float(high.sum())
    at_most = p(high) if most > 0 else 1.0
    at_least = p(low) if least < 0 else 1.0
    if least > 0:
        return at_most, p(low)
    if most < 0:
        return at_least, p(high)
    return min(at_least, at_most), 1.0


def _exact_p(moved: _Floats) -> float:
    """Over every sign pattern."""
    return float((np.abs(_all_signed_sums(moved)) >= _bar(moved)).mean())


def _drawn_p(deltas: _Floats, *, flips: int, seed: int) -> float:
    """Over drawn patterns; a zero delta has its own sign, so that n and seed fix the draw."""
    sums = _drawn_signed_sums(deltas, flips, np.random.default_rng(seed))
    return (int((np.abs(sums) >= _bar(deltas)).sum()) + 1) / (flips + 1)


def _drawn_signed_sums(values: _Floats, draws: int, rng: np.random.Generator) -> _Floats:
    """The sum of `values` under random signs, `draws` times; shape (draws,).

    A random byte holds the signs of eight values: their 256 signed sums are made once.
    """
    places = -(-len(values) // _BITS)
    eights = np.zeros((places, _BITS))
    eights.ravel()[: len(values)] = values
    signs = 1.0 - 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)
    sums = np.zeros(draws)
    for table in eights @ signs.T:
        sums += table.take(rng.integers(0, 256, draws, dtype=np.uint8))
    return sums


def _bar(deltas: _Floats) -> float:
    """How far from 0 is far enough; sums may round apart."""
    return abs(float(deltas.sum())) - 1e-12 * float(np.abs(deltas).sum())


def _all_signed_sums(values: _Floats) -> _Floats:
    sums = np.zeros(1)
    for value in values.tolist():
        sums = np.concatenate((sums + value, sums - value))
    return sums


def bootstrap_interval(
    deltas: _Floats, *, resamples: int = 10_000, seed: int = 0, level: float = 0.95
) -> tuple[float, float]:
    """Percentile bootstrap interval of the mean delta, queries resampled with replacement.

    Returns:
        (low, high); NaN both over fewer than two deltas.

    Raises:
        UsageError: a delta is not finite, no resamples, or a level outside (0, 1).
    """
    _require_finite(deltas)
    if resamples < 1 or not 0 < level < 1:
        raise UsageError(f"{resamples} resamples at level {level}; need 1 or more, level in (0, 1)")
    if len(deltas) < 2:  # noqa: PLR2004 - one query says nothing of the spread
        return float("nan"), float("nan")
    rng = np.random.default_rng(seed)
    means = np.concatenate(
        [
            deltas[rng.integers(0, len(deltas), (rows, len(deltas)))].mean(axis=1)
            for rows in _blocks(resamples, len(deltas))
        ]
    )
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return low, high


def minimum_detectable_effect(deltas: _Floats) -> float:
    """The least true mean delta that this many queries would detect, in the metric's unit.

    2.80 sd / sqrt(n): 80 % power at a two-sided 5 % test (Sakai 2016). NaN over fewer than two.

    Raises:
        UsageError: a delta is not finite.
    """
    return _MDE_FACTOR * _sd(deltas) / sqrt(len(deltas)) if len(deltas) else float("nan")


def queries_needed(deltas: _Floats, effect: float) -> int | None:
    """How many queries would detect a mean delta of `effect`; None when the spread is unknown.

    Raises:
        UsageError: a delta is not finite, or an effect that is not above 0.
    """
    if not effect > 0:
        raise UsageError(f"the effect is {effect}; it must be above 0")
    sd = _sd(deltas)
    return None if np.isnan(sd) else max(2, ceil((_MDE_FACTOR * sd / effect) ** 2 - TOLERANCE))


def effect_size(deltas: _Floats) -> float:
    """Mean delta over the standard deviation of the deltas (Cohen's d of paired samples).

    NaN over fewer than two deltas, and where all deltas are equal.

    Raises:
        UsageError: a delta is not finite.
    """
    sd = _sd(deltas)
    return float(deltas.mean()) / sd if sd > 0 else float("nan")


def holm(ps: Sequence[float]) -> tuple[float, ...]:
    """Holm-adjusted p of each test among all of them; a NaN is no test and stays NaN.

    The i-th smallest of m is multiplied by m - i + 1, never falls below a smaller one's, and ends
    at 1 (Holm 1979).
    """
    order = sorted((i for i, p in enumerate(ps) if not isnan(p)), key=lambda i: ps[i])
    adjusted = [nan] * len(ps)
    reached = 0.0
    for place, i in enumerate(order):
        reached = max(reached, min(1.0, (len(order) - place) * ps[i]))
        adjusted[i] = reached
    return tuple(adjusted)


def _sd(deltas: _Floats) -> float:
    _require_finite(deltas)
    return float(deltas.std(ddof=1)) if len(deltas) > 1 else float("nan")


def _mean(values: _Floats) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _require_finite(deltas: _Floats) -> None:
    if not np.isfinite(deltas).all():
        raise UsageError("a delta is not a finite number; leave the query out, and say so")


def _blocks(total: int, width: int) -> Iterator[int]:
    """Row counts that add up to `total`, each block within the scratch size."""
    step = max(1, _BLOCK_CELLS // width)
    for start in range(0, total, step):
        yield min(step, total - start)
