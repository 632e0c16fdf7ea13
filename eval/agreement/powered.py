"""Prediction-powered means: many judge's values, corrected by few of people. Pure.

theta = mean of Y + lambda (mean of f over the unlabelled - mean of f over the labelled), where Y is
people's value and f the judge's. lambda 1 is PPI (Angelopoulos et al. 2023, arXiv 2301.09633),
lambda 0 people alone; lambda* has the least variance (PPI++, arXiv 2311.01453) and is never worse
than either, asymptotically. It holds only where the labelled are a random part of all.

Values of one query hang together, so queries are the independent parts: the standard error is that
of the infinitesimal jackknife over queries, and lambda* minimises it. With one value a query both
are the papers' own formulas. The interval is Student's t, one degree of freedom the less for each
of the mean and lambda.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relgate.eval.agreement.intervals import CONFIDENCE
from relgate.eval.agreement.tails import t_quantile
from relgate.rubrics.errors import UsageError

__all__ = ["LEAST_LABELLED", "Estimate", "Powered", "Values", "as_values", "powered_mean"]

LEAST_LABELLED = 50
"""Fewer labelled queries give no correction: lambda and the interval would be guesses."""

Floats = NDArray[np.float64]

_LEAST = 3  # two degrees of freedom go


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its standard error and 95 % interval; None where there is none."""

    point: float
    error: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Powered:
    """A mean by people, by the judge, and corrected.

    Attributes:
        corrected: the prediction-powered mean at `weight`.
        people: the mean of people's values alone, on the labelled.
        judge: the mean of the judge's values, on labelled and unlabelled: biased as the judge is.
        weight: lambda; 0 takes nothing from the judge.
        labelled: values with both.
        unlabelled: values of the judge alone.
        queries: queries with a labelled value.
    """

    corrected: Estimate
    people: Estimate
    judge: Estimate
    weight: float
    labelled: int
    unlabelled: int
    queries: int


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """Values of judge and people, each with its query.

    Attributes:
        people: (U,), NaN where people gave none.
        judge: (U,), finite.
        query: (U,), 0 and up: values of one query are not independent.
    """

    people: Floats
    judge: Floats
    query: NDArray[np.int64]

    def check(self) -> None:
        """Raises UsageError for columns that do not fit, or a judge's value that is no number."""
        if not len(self.people) == len(self.judge) == len(self.query):
            raise UsageError(
                f"{len(self.people)} values of people, {len(self.judge)} of the judge, "
                f"{len(self.query)} queries"
            )
        if not np.isfinite(self.judge).all() or np.isinf(self.people).any():
            raise UsageError("a value is not a finite number; leave it out, and say so")


def powered_mean(values: Values, *, weight: float | None = None) -> Powered:
    """The mean that people would give, from few of theirs and many of the judge.

    Args:
        values: labelled and unlabelled together.
        weight: lambda; None takes the one of least variance. 1 is PPI without tuning.

    Raises:
        UsageError: no labelled value, or as `Values.check`.
    """
    values.check()
    labelled = np.isfinite(values.people)
    if not labelled.any():
        raise UsageError("no value of people: there is nothing to correct by")
    n_labelled, n_rest = int(labelled.sum()), int((~labelled).sum())
    people = values.people[labelled].mean()
    near, far = values.judge[labelled].mean(), values.judge[~labelled].sum() / max(n_rest, 1)
    shift = float(far - near) if n_rest else 0.0
    of_people = _influence(values, labelled, np.where(labelled, values.people - people, 0.0))
    of_near = _influence(values, labelled, np.where(labelled, values.judge - near, 0.0))
    of_far = _influence(values, ~labelled, np.where(labelled, 0.0, values.judge - far))
    of_shift = of_far - of_near if n_rest else np.zeros_like(of_near)
    lam = _least_variance(of_people, of_shift) if weight is None else float(weight)
    queries = len(np.unique(values.query[labelled]))
    every = np.ones(len(labelled), bool)
    whole = float(values.judge.mean())
    of_whole = _influence(values, every, values.judge - whole)
    return Powered(
        corrected=_estimate(
            float(people) + lam * shift, of_people + lam * of_shift, queries, freedom=queries - 2
        ),
        people=_estimate(float(people), of_people, queries, freedom=queries - 1),
        judge=_estimate(whole, of_whole, len(of_whole), freedom=len(of_whole) - 1),
        weight=lam,
        labelled=n_labelled,
        unlabelled=n_rest,
        queries=queries,
    )


def _influence(values: Values, part: NDArray[np.bool_], centred: Floats) -> Floats:
    """What each query adds to the error of the mean over `part`, shape (Q,)."""
    _, query = np.unique(values.query, return_inverse=True)
    return np.bincount(query, centred).astype(float) / max(int(part.sum()), 1)


def _least_variance(of_people: Floats, of_shift: Floats) -> float:
    spread = float(of_shift @ of_shift)
    return -float(of_people @ of_shift) / spread if spread > 0 else 0.0


def _estimate(point: float, influence: Floats, parts: int, *, freedom: int) -> Estimate:
    if parts < _LEAST or freedom < 1:
        return Estimate(point, None, None, None)
    error = math.sqrt(parts / (parts - 1) * float(influence @ influence))
    reach = t_quantile((1 + CONFIDENCE) / 2, freedom) * error
    return Estimate(point, error, point - reach, point + reach)


def as_values(people: ArrayLike, judge: ArrayLike, query: ArrayLike | None = None) -> Values:
    """Values of arrays; without `query` each value is a query of its own."""
    own = np.arange(len(np.asarray(judge))) if query is None else np.asarray(query, np.int64)
    return Values(np.asarray(people, float), np.asarray(judge, float), own)
