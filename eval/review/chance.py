"""What chance alone would do: to the mean delta, and to the mean of each stratum. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, nan

import numpy as np

from relgate.eval.metrics.compare import (
    bootstrap_interval,
    minimum_detectable_effect,
    sign_flip_p,
)
from relgate.eval.review.types import Noise, QueryEvidence, Stratum

__all__ = ["noise_of", "strata_of"]

_MIN_QUERIES = 2


def noise_of(queries: Sequence[QueryEvidence], seed: int) -> Noise | None:
    """How the mean delta stands against chance; None over fewer than two queries."""
    deltas = np.array([q.delta for q in queries if q.paired])
    if len(deltas) < _MIN_QUERIES or not np.isfinite(deltas).all():
        return None
    low, high = bootstrap_interval(deltas, seed=seed)
    return Noise(
        p=sign_flip_p(deltas, seed=seed),
        low=low,
        high=high,
        detectable=minimum_detectable_effect(deltas),
        n=len(deltas),
    )


def strata_of(queries: Sequence[QueryEvidence], seed: int) -> tuple[Stratum, ...]:
    """Each stratum over its queries scored on both sides, in order of first appearance.

    A stratum whose queries are all without a score is there too, with n 0.
    """
    groups: dict[str, list[QueryEvidence]] = {}
    for query in queries:
        for name in query.strata:
            groups.setdefault(name, []).append(query)
    return tuple(_stratum(name, group, seed) for name, group in groups.items())


def _stratum(name: str, group: Sequence[QueryEvidence], seed: int) -> Stratum:
    paired = [q for q in group if q.paired and isfinite(q.delta)]
    deltas = np.array([q.delta for q in paired])
    return Stratum(
        name=name,
        before=_mean([q.before for q in paired]),
        after=_mean([q.after for q in paired]),
        n=len(paired),
        p=sign_flip_p(deltas, seed=seed) if paired else nan,
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else nan
