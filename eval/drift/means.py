"""Means of a measured run, over all its core queries or those of a stratum. Pure.

A query without an ideal has no NDCG and is left out of its mean; a failed query counts as 0. Rates
are over the queries that answered and are not meant to be empty.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from relgate.eval.drift.types import FEW, MeasuredQuery, Signal

__all__ = ["core", "means_of", "strata_of", "weighted_means_of"]

_VALUES: Mapping[Signal, Callable[[MeasuredQuery], float | None]] = {
    Signal.NDCG: lambda query: query.ndcg,
    Signal.MRR: lambda query: query.mrr,
    Signal.PRECISION: lambda query: query.precision,
}

FILTERED, UNFILTERED = "filtered", "unfiltered"


def core(queries: Iterable[MeasuredQuery]) -> tuple[MeasuredQuery, ...]:
    """The queries that gate."""
    return tuple(query for query in queries if query.set == "core")


def means_of(queries: Sequence[MeasuredQuery]) -> dict[Signal, float]:
    """Every signal over `queries`; one that nothing can be said of is left out.

    NaN where a value is NaN: it must not pass as a mean.
    """
    found: dict[Signal, float] = {}
    for signal, value in _VALUES.items():
        values = [v for query in queries if (v := value(query)) is not None]
        if values:
            found[signal] = math.fsum(values) / len(values)
    answered = [q for q in queries if not q.failed and q.expect != "empty"]
    if answered:
        found[Signal.EMPTY] = sum(q.empty for q in answered) / len(answered)
    counted = [q.returned for q in answered if q.returned is not None]
    if answered and len(counted) == len(answered):
        found[Signal.LT3] = sum(n < FEW for n in counted) / len(counted)
    return found


def weighted_means_of(queries: Sequence[MeasuredQuery]) -> dict[Signal, float]:
    """NDCG, MRR and P@k by traffic, for product review; no budget holds for them.

    A query without a weight weighs 0. Empty where no query that has the signal weighs anything.
    """
    found: dict[Signal, float] = {}
    for signal, value in _VALUES.items():
        pairs = [(q.weight or 0.0, v) for q in queries if (v := value(q)) is not None]
        total = math.fsum(weight for weight, _ in pairs)
        if total > 0:
            found[signal] = math.fsum(weight * v for weight, v in pairs) / total
    return found


def strata_of(queries: Iterable[MeasuredQuery]) -> dict[str, tuple[MeasuredQuery, ...]]:
    """The core queries by stratum; and, where some were filtered and some not, by that too."""
    groups: dict[str, list[MeasuredQuery]] = {}
    gating = core(queries)
    for query in gating:
        if query.stratum is not None:
            groups.setdefault(query.stratum, []).append(query)
    with_filters = [query for query in gating if query.filtered]
    if 0 < len(with_filters) < len(gating):
        groups.setdefault(FILTERED, with_filters)
        groups.setdefault(UNFILTERED, [query for query in gating if not query.filtered])
    return {name: tuple(found) for name, found in groups.items()}
