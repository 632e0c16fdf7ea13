"""Several runs, pair by pair: how far apart, and what chance alone would do. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import nan

import numpy as np
from numpy.typing import NDArray

from relgate.eval.metrics.compare import (
    TOLERANCE,
    Comparison,
    bootstrap_interval,
    compare,
    effect_size,
    holm,
    minimum_detectable_effect,
    queries_needed,
    sign_flip_p,
)
from relgate.eval.metrics.conventions import Metric
from relgate.eval.metrics.types import RunScores

__all__ = ["MIN_SLICE_QUERIES", "Contrast", "compare_pairs", "compare_slices"]

MIN_SLICE_QUERIES = 30
"""A slice of fewer queries is shown and not tested."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two runs under one metric, over the queries that have a value on both.

    Attributes:
        before: the first run's name.
        after: the second's.
        slice: the slice's name; None for all queries.
        name: the metric with its convention.
        n: paired queries.
        mean_before: mean of the first.
        mean_after: mean of the second.
        delta: mean of the deltas.
        low: lower end of its 95 % bootstrap interval; NaN under two queries.
        high: upper end.
        p: two-sided sign-flip p; NaN where not tested.
        p_holm: the same, Holm-adjusted over all tests of one call.
        effect: mean over standard deviation of the deltas; NaN where these are all equal.
        detectable: least mean delta that n queries would find, 80 % power.
        needed: queries that would find the observed delta; None where it is 0 or unknown.
        improved: queries that rose.
        worse: queries that fell.
    """

    before: str
    after: str
    slice: str | None
    name: str
    n: int
    mean_before: float
    mean_after: float
    delta: float
    low: float
    high: float
    p: float
    p_holm: float
    effect: float
    detectable: float
    needed: int | None
    improved: int
    worse: int


def compare_pairs(
    scores: Sequence[RunScores], metric: Metric, *, seed: int = 0
) -> tuple[Contrast, ...]:
    """Every pair of runs, the earlier one first, Holm-adjusted over the pairs.

    Args:
        scores: of one call to `score_runs`, two or more.
        metric: which.
        seed: of the resampling.

    Raises:
        UsageError: scores on other axes, conventions or judgments.
    """
    found = [
        _contrast(a.name, b.name, None, compare(a, b, metric), seed)
        for a, b in combinations(scores, 2)
    ]
    return _adjusted(found)


def compare_slices(
    scores: Sequence[RunScores],
    metric: Metric,
    slices: Mapping[str, NDArray[np.bool_]],
    *,
    seed: int = 0,
) -> tuple[Contrast, ...]:
    """Every pair of runs in every slice, Holm-adjusted over all of them.

    A slice of fewer than 30 paired queries is not tested: its p is NaN.

    Args:
        scores: as in `compare_pairs`.
        metric: which.
        slices: {name: which queries of the axis}, each of shape (nq,).
        seed: of the resampling.
    """
    found: list[Contrast] = []
    for a, b in combinations(scores, 2):
        whole = compare(a, b, metric)
        for name, inside in slices.items():
            part = _part(whole, inside)
            contrast = _contrast(a.name, b.name, name, part, seed)
            tested = part.n >= MIN_SLICE_QUERIES
            found.append(contrast if tested else replace(contrast, p=nan))
    return _adjusted(found)


def _part(whole: Comparison, inside: NDArray[np.bool_]) -> Comparison:
    keep = inside[whole.index]
    return replace(
        whole,
        index=whole.index[keep],
        before=whole.before[keep],
        after=whole.after[keep],
        deltas=whole.deltas[keep],
    )


def _contrast(before: str, after: str, part: str | None, c: Comparison, seed: int) -> Contrast:
    low, high = bootstrap_interval(c.deltas, seed=seed)
    far = abs(c.mean_delta)
    return Contrast(
        before=before,
        after=after,
        slice=part,
        name=c.name,
        n=c.n,
        mean_before=c.mean_before,
        mean_after=c.mean_after,
        delta=c.mean_delta,
        low=low,
        high=high,
        p=sign_flip_p(c.deltas, seed=seed),
        p_holm=nan,
        effect=effect_size(c.deltas),
        detectable=minimum_detectable_effect(c.deltas),
        needed=queries_needed(c.deltas, far) if far > TOLERANCE else None,
        improved=c.improved,
        worse=c.worse,
    )


def _adjusted(found: Sequence[Contrast]) -> tuple[Contrast, ...]:
    adjusted = holm([c.p for c in found])
    return tuple(replace(c, p_holm=p) for c, p in zip(found, adjusted, strict=True))
