"""What a review's mean is worth under its judge's own class probabilities. Pure, seeded.

Each filled grade that came with probabilities is drawn from them, independently; everything else
is taken as it is, and the ideal is recomputed in every draw. That is the judge's own doubt, not
its error against people: a judge may be sure and wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relgate.eval.bounds.pool import Pool, make_pool
from relgate.eval.gaps.seen import seen_queries
from relgate.eval.lists.types import JudgmentList
from relgate.eval.metrics.align import Axis
from relgate.eval.metrics.conventions import Conventions, Metric
from relgate.eval.metrics.kernel import discounts, ideal_dcg
from relgate.eval.review.types import ExpectedScores
from relgate.eval.runs.types import Run

__all__ = ["DRAWS", "expected_scores"]

DRAWS = 1_000

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Sides:
    """One query in every draw: its value on both sides, and whether it counts; (draws, 2)."""

    values: _Floats
    counts: NDArray[np.bool_]


def expected_scores(
    judgments: JudgmentList,
    runs: Sequence[Run],
    axis: Axis,
    probabilities: Mapping[tuple[str, str], tuple[float, ...]],
    conventions: Conventions,
    *,
    filled: int,
    seed: int,
    draws: int = DRAWS,
) -> ExpectedScores | None:
    """The gating mean over draws of the grades; None when no grade came with probabilities.

    Args:
        judgments: the filled list that `axis` was made of.
        runs: before and after.
        axis: of these.
        probabilities: by (query id, match key) the share of each grade of the list's scale.
        conventions: depth, floor, gain, what becomes of queries without an ideal.
        filled: grades that the fill gave in all.
        seed: of the draws.
        draws: how many.
    """
    if not probabilities:
        return None
    metric = Metric.NDCG if judgments.scale.max_grade > 1 else Metric.MRR
    means, pairs = _means(judgments, runs, axis, probabilities, conventions, (draws, seed))
    if not len(means):
        return None
    low, high = np.quantile(means[:, 1] - means[:, 0], (0.025, 0.975)).tolist()
    before, after = means.mean(axis=0).tolist()
    return ExpectedScores(
        name=conventions.name(metric),
        before=before,
        after=after,
        low=low,
        high=high,
        pairs=pairs,
        filled=filled,
        draws=draws,
        seed=seed,
    )


def _means(  # noqa: PLR0917 - one caller, above
    judgments: JudgmentList,
    runs: Sequence[Run],
    axis: Axis,
    probabilities: Mapping[tuple[str, str], tuple[float, ...]],
    conventions: Conventions,
    how: tuple[int, int],
) -> tuple[_Floats, int]:
    """Means before and after, a row a draw in which a query counts; documents drawn for."""
    draws, seed = how
    max_grade = judgments.scale.max_grade
    metric = Metric.NDCG if max_grade > 1 else Metric.MRR
    rng = np.random.default_rng(seed)
    total, n, pairs = np.zeros((draws, 2)), np.zeros((draws, 1)), 0
    for seen in seen_queries(judgments, runs, axis):
        shares = {
            doc: kept
            for doc in seen.grades
            if len(kept := probabilities.get((seen.query.id, doc), ())) == max_grade + 1
        }
        pool = make_pool(
            seen.grades,
            seen.before,
            seen.after,
            conventions,
            max_grade=max_grade,
            askable=(),
            doubts=dict.fromkeys(shares, range(max_grade + 1)),
        )
        pairs += len(pool.doubted)
        grades = _drawn(rng, [shares[doc] for doc in pool.doubted], draws)
        sides = _scored(pool, grades, conventions, metric)
        total += np.where(sides.counts, sides.values, 0.0)
        n += sides.counts
    if not pairs:
        return np.zeros((0, 2)), 0
    with np.errstate(invalid="ignore"):  # no query counts in a draw: no mean
        means = total / n
    return means[n[:, 0] > 0], pairs


def _drawn(rng: np.random.Generator, shares: Sequence[tuple[float, ...]], draws: int) -> _Ints:
    """A grade a draw and document, shape (draws, m)."""
    if not shares:
        return np.zeros((draws, 0), np.int64)
    upto = np.cumsum(np.array(shares), axis=1)[:, :-1]
    coins = rng.random((draws, len(shares), 1))
    return np.asarray((coins >= upto).sum(axis=2), np.int64)


def _scored(pool: Pool, grades: _Ints, conventions: Conventions, metric: Metric) -> _Sides:
    gains = conventions.gains(len(pool.hist))
    drawn = np.stack([(grades == g).sum(axis=1) for g in range(len(pool.hist))], axis=1)
    ideal = ideal_dcg(pool.hist + drawn, gains, conventions.k)[:, None]
    counts = np.full(ideal.shape, pool.rated) if conventions.no_ideal == "zero" else ideal > 0
    if metric is Metric.MRR:
        return _Sides(_reciprocal_ranks(pool, grades, conventions.floor), counts)
    weights = np.concatenate(([0.0], discounts(conventions.k)))[pool.ranks]
    actual = np.array(pool.dcg) + gains[grades] @ weights
    values = np.zeros(actual.shape)
    np.divide(actual, ideal, out=values, where=ideal > 0)
    return _Sides(values, counts)


def _reciprocal_ranks(pool: Pool, grades: _Ints, floor: int) -> _Floats:
    nowhere = np.inf
    known = np.where(np.array(pool.first) > 0, pool.first, nowhere)
    ranks = np.where(pool.ranks > 0, pool.ranks, nowhere)[None, :, :]
    relevant = (grades >= floor)[:, :, None]
    first = np.where(relevant, ranks, nowhere).min(axis=1, initial=nowhere)
    return np.asarray(1.0 / np.minimum(first, known), np.float64)
