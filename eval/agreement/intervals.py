"""Intervals by resampling queries. Pure.

Pairs of one query are not independent, so whole queries are drawn with replacement (a cluster
bootstrap) and percentiles of the figures over the draws are the interval, `METHOD`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relgate.eval.agreement.confusion import all_figures
from relgate.eval.agreement.tails import t_quantile

__all__ = [
    "CONFIDENCE",
    "METHOD",
    "RESAMPLES",
    "Figure",
    "expanded_tail",
    "figures_with_intervals",
    "interval_of_draws",
    "intervals_of",
    "resampled_sums",
    "resampled_tables",
    "standard_errors",
]

RESAMPLES = 2_000
"""Draws of a bootstrap."""
CONFIDENCE = 0.95
"""How often an interval is to hold the truth."""
METHOD = "expanded percentile"
"""What the intervals are, see `interval_of_draws`."""

_DRAWS_AT_ONCE = 500_000  # query indices held in memory; a working set that stays in the CPU cache
_STEP = 1e-5  # of a weight of 1: slopes come out to some ten digits
_LEAST_QUERIES = 2  # all draws of one query are equal: no interval, rather than one of width 0
_TOO_FEW = "an interval takes two queries or more"


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure with its 95 % interval; None is "undefined".

    Attributes:
        point: its value on all pairs.
        low: lower end; None when undefined, or when there are fewer than two queries.
        high: upper end, likewise.
        undefined_draws: draws in which it was undefined, left out of the interval.
        why: what leaves the point or the interval undefined; None when both are there, or when
            whoever computed it does not know.
    """

    point: float | None
    low: float | None = None
    high: float | None = None
    undefined_draws: int = 0
    why: str | None = None


def resampled_sums(
    sums: ArrayLike, *, seed: int, resamples: int = RESAMPLES
) -> NDArray[np.float64]:
    """Sums over the queries of `resamples` draws, shape (resamples, M).

    Args:
        sums: (Q, M), a query's own sums of M quantities.
        seed: of the generator (PCG64), recorded in the result.
        resamples: how many draws.

    Each draw takes Q queries with replacement. The weights are multinomial counts, made by
    counting drawn indices: the same law as `Generator.multinomial`, ten times faster.
    """
    flat = np.asarray(sums, float)
    n_queries = len(flat)
    generator = np.random.default_rng(seed)
    block = max(1, _DRAWS_AT_ONCE // max(1, n_queries))
    out = np.empty((resamples, flat.shape[1]))
    for start in range(0, resamples, block):
        m = min(block, resamples - start)
        drawn = generator.integers(0, n_queries, (m, n_queries))
        drawn += (np.arange(m) * n_queries)[:, None]
        weights = np.bincount(drawn.ravel(), minlength=m * n_queries).reshape(m, n_queries)
        out[start : start + m] = weights.astype(float) @ flat
    return out


def resampled_tables(
    tables: ArrayLike, *, seed: int, resamples: int = RESAMPLES
) -> NDArray[np.float64]:
    """Confusion tables of `resamples` draws of the queries, shape (resamples, K, K).

    Args:
        tables: (Q, K, K), one table a query.
        seed: as `resampled_sums`.
        resamples: how many draws.
    """
    t = np.asarray(tables, float)
    cells = t.shape[-2] * t.shape[-1]  # not -1: there may be no query at all
    drawn = resampled_sums(t.reshape(len(t), cells), seed=seed, resamples=resamples)
    return drawn.reshape(resamples, *t.shape[1:])


def figures_with_intervals(
    tables: ArrayLike,
    *,
    floor: int,
    seed: int,
    resamples: int = RESAMPLES,
    reported: Mapping[str, float] | None = None,
) -> dict[str, Figure]:
    """Every figure of `all_figures` with its interval over resampled queries.

    Args:
        tables: (Q, K, K), one table a query; queries without a pair must be left out.
        floor: least grade that counts as relevant.
        seed: of the resampling.
        resamples: how many draws.
        reported: points that take the place of the closed forms (scikit-learn's).
    """
    t = np.asarray(tables, float)
    k = t.shape[-1]

    def score(cells: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        return all_figures(cells.reshape(*cells.shape[:-1], k, k), floor=floor)

    return intervals_of(
        t.reshape(len(t), k * k), score, seed=seed, resamples=resamples, reported=reported
    )


def intervals_of(
    sums: ArrayLike,
    score: Callable[[NDArray[np.float64]], Mapping[str, NDArray[np.float64]]],
    *,
    seed: int,
    resamples: int = RESAMPLES,
    reported: Mapping[str, float] | None = None,
) -> dict[str, Figure]:
    """Figures of sums over queries, each with its interval over resampled queries.

    Args:
        sums: (Q, M), a query's own sums; no interval for fewer than two queries.
        score: from (..., M) sums to figures by name, each of the leading shape.
        seed: of the resampling.
        resamples: how many draws.
        reported: points that take the place of those that `score` gives.
    """
    s = np.asarray(sums, float)
    points = {name: float(value) for name, value in score(s.sum(axis=0)).items()}
    points |= dict(reported or {})
    if len(s) < _LEAST_QUERIES:
        return {name: Figure(_known(point), why=_TOO_FEW) for name, point in points.items()}
    draws = score(resampled_sums(s, seed=seed, resamples=resamples))
    return {
        name: interval_of_draws(point, draws[name], parts=len(s)) for name, point in points.items()
    }


def standard_errors(
    sums: ArrayLike,
    score: Callable[[NDArray[np.float64]], Mapping[str, NDArray[np.float64]]],
) -> dict[str, float]:
    """Standard errors of figures of sums over independent parts, to first order; NaN if undefined.

    The infinitesimal jackknife: each part's weight is moved a little, and the figures' slopes d
    give the variance n/(n-1) sum d^2. For AC1 over units it is Gwet's own formula (2008).

    Args:
        sums: (Q, M), a part's own sums.
        score: from (..., M) sums to figures by name, each of the leading shape.
    """
    s = np.asarray(sums, float)
    total, n = s.sum(axis=0), len(s)
    if n < _LEAST_QUERIES:
        return dict.fromkeys(score(total), math.nan)
    up, down = score(total + _STEP * s), score(total - _STEP * s)
    return {
        name: float(np.sqrt(n / (n - 1) * (((up[name] - down[name]) / (2 * _STEP)) ** 2).sum()))
        for name in up
    }


def interval_of_draws(point: float, draws: NDArray[np.float64], *, parts: int) -> Figure:
    """A point with the interval of its draws; NaN draws are left out and counted.

    Percentiles of so few parts are too narrow by sqrt((n-1)/n) and by the normal in Student's
    place, so they are taken further out (the expanded percentile interval, Hesterberg 2015, "What
    teachers should know about the bootstrap", The American Statistician 69:371).

    Args:
        point: the figure on all parts.
        draws: the figure of each draw.
        parts: independent parts that were drawn from, such as queries.
    """
    defined = draws[np.isfinite(draws)]
    missing = len(draws) - len(defined)
    if math.isnan(point) or not len(defined) or parts < _LEAST_QUERIES:
        return Figure(_known(point), undefined_draws=missing)
    tail = expanded_tail(parts)
    low, high = np.quantile(defined, [tail, 1 - tail]).tolist()
    return Figure(point, low, high, missing)


def expanded_tail(parts: int) -> float:
    """The share of draws beyond each end of a 95 % interval over `parts` queries, below 0.025."""
    reach = t_quantile((1 + CONFIDENCE) / 2, parts - 1) * math.sqrt(parts / (parts - 1))
    return math.erfc(reach / math.sqrt(2)) / 2


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None
