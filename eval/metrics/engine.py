"""What Elasticsearch's `_rank_eval` computes under its metrics' names. Pure.

A file names its metric but not all of its settings, so each metric has several readings: a value,
and in words how it came about other than ours. Source: the classes DiscountedCumulativeGain,
PrecisionAtK, MeanReciprocalRank and RecallAtK of Elasticsearch's module rank-eval.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp2, log2
from types import MappingProxyType

from relgate.eval.metrics.conventions import Conventions

__all__ = ["READINGS", "Reading", "Seen"]

_DEFAULT_THRESHOLD = 1


@dataclass(frozen=True, slots=True)
class Seen:
    """One query as the engine saw it.

    Attributes:
        hits: the rating of each hit in rank order, None where it has none; cut at the engine's k.
        ratings: all ratings of the query.
        normalized: for dcg, whether it is NDCG; None where the file does not tell.
    """

    hits: Sequence[float | None]
    ratings: Sequence[float]
    normalized: bool | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """One value that the engine may have computed, and where its way is not ours."""

    value: float
    causes: list[str] = field(default_factory=list[str])


def _dcg_of(ratings: Sequence[float | None]) -> float:
    pairs = enumerate(ratings)
    return sum((exp2(r) - 1.0) / log2(i + 2) for i, r in pairs if r is not None)


def _dcg(seen: Seen, conventions: Conventions) -> Iterator[Reading]:
    causes = [] if conventions.gain == "exp2" else ["its gain is 2^rating - 1, not the rating"]
    actual = _dcg_of(seen.hits)
    if seen.normalized is not False:
        cut = min(len(seen.hits), len(seen.ratings))
        best = _dcg_of(sorted(seen.ratings, reverse=True)[:cut])
        short = [f"it cuts the ideal to the {len(seen.hits)} hits returned"]
        why = causes + (short if cut < min(conventions.k, len(seen.ratings)) else [])
        if not best and conventions.no_ideal == "apart":
            why.append("it counts a query without an ideal as 0")
        yield Reading(actual / best if best else 0.0, why)
    if seen.normalized is not True:
        yield Reading(actual, [*causes, "the score is DCG, not divided by the ideal"])


def _thresholds(conventions: Conventions) -> Iterator[tuple[int, list[str]]]:
    yield conventions.floor, []
    if conventions.floor != _DEFAULT_THRESHOLD:
        why = f"it takes grade {_DEFAULT_THRESHOLD} for relevant, not {conventions.floor}"
        yield _DEFAULT_THRESHOLD, [why]


def _relevant(hits: Sequence[float | None], threshold: int) -> list[bool]:
    return [rating is not None and rating >= threshold for rating in hits]


def _precision(seen: Seen, conventions: Conventions) -> Iterator[Reading]:
    rated = sum(rating is not None for rating in seen.hits)
    for threshold, why in _thresholds(conventions):
        found = sum(_relevant(seen.hits, threshold))
        n = len(seen.hits)
        short = [f"it divides by the {n} hits returned, not by {conventions.k}"]
        yield Reading(found / n if n else 0.0, why + (short if n != conventions.k else []))
        yield Reading(
            found / rated if rated else 0.0, [*why, f"it divides by the {rated} rated hits"]
        )


def _reciprocal_rank(seen: Seen, conventions: Conventions) -> Iterator[Reading]:
    for threshold, why in _thresholds(conventions):
        relevant = _relevant(seen.hits, threshold)
        yield Reading(1.0 / (relevant.index(True) + 1) if any(relevant) else 0.0, why)


def _recall(seen: Seen, conventions: Conventions) -> Iterator[Reading]:
    for threshold, why in _thresholds(conventions):
        total = sum(_relevant(seen.ratings, threshold))
        none = [] if total else ["it counts a query without a relevant rating as 0"]
        found = sum(_relevant(seen.hits, threshold))
        yield Reading(found / total if total else 0.0, why + none)


READINGS: Mapping[str, Callable[[Seen, Conventions], Iterator[Reading]]] = MappingProxyType(
    {
        "dcg": _dcg,
        "precision": _precision,
        "mean_reciprocal_rank": _reciprocal_rank,
        "recall": _recall,
    }
)
"""Per engine metric, its readings, the likeliest first."""
