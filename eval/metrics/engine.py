"""What Elasticsearch's `_rank_eval` computes under its metrics' names. Pure.

A file names its metric but not all of its settings, so each metric has several readings: a value,
and in words how it came about other than ours. Source: the classes DiscountedCumulativeGain,
PrecisionAtK, MeanReciprocalRank and RecallAtK of Elasticsearch's module rank-eval. There the ideal
is made of all ratings; files in the same form that other tools wrote may take it from the hits
alone, as Quepid did up to its pull request 1242.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp2, log2
from types import MappingProxyType

from relgate.eval.metrics.conventions import Conventions

__all__ = ["READINGS", "Reading", "Seen", "Ways", "possible_ways"]

_DEFAULT_THRESHOLD = 1


@dataclass(frozen=True, slots=True)
class Ways:
    """What a file does not tell of how all of its scores were made; for dcg alone.

    Attributes:
        unknown: the rating that unrated hits were given (`unknown_doc_rating`); None for none.
        ideal_of_hits: the ideal is made of the hits alone, not of all ratings.
    """

    unknown: int | None = None
    ideal_of_hits: bool = False


@dataclass(frozen=True, slots=True)
class Seen:
    """One query as the engine saw it.

    Attributes:
        hits: the rating of each hit in rank order, None where it has none; cut at the engine's k.
        ratings: all ratings of the query.
        normalized: for dcg, whether it is NDCG; None where the file does not tell.
        k: the engine's k; None where the file does not tell.
        ways: what else the file does not tell.
    """

    hits: Sequence[float | None]
    ratings: Sequence[float]
    normalized: bool | None = None
    k: int | None = None
    ways: Ways = field(default_factory=Ways)


@dataclass(frozen=True, slots=True)
class Reading:
    """One value that the engine may have computed, and where its way is not ours."""

    value: float
    causes: list[str] = field(default_factory=list[str])


def _dcg_of(ratings: Sequence[float | None]) -> float:
    pairs = enumerate(ratings)
    return sum((exp2(r) - 1.0) / log2(i + 2) for i, r in pairs if r is not None)


def possible_ways(metric: str, ratings: Iterable[float]) -> list[Ways]:
    """The ways that a file of this metric may have been made in, the likeliest first.

    Args:
        metric: the engine's name of it.
        ratings: the ratings in use: no unrated hit is taken to be rated above the greatest.
    """
    if metric != "dcg":
        return [Ways()]
    most = int(max(ratings, default=0))
    return [Ways(u, of_hits) for of_hits in (False, True) for u in (None, *range(1, most + 1))]


def _dcg(seen: Seen, conventions: Conventions) -> Iterator[Reading]:
    causes = [] if conventions.gain == "exp2" else ["its gain is 2^rating - 1, not the rating"]
    unknown = seen.ways.unknown
    if unknown is not None and None in seen.hits:
        causes.append(f"it rates an unrated hit {unknown} (unknown_doc_rating)")
    hits = [unknown if rating is None else rating for rating in seen.hits]
    actual = _dcg_of(hits)
    if seen.normalized is not False:
        for best, why in _ideals(hits, seen, conventions):
            none = not best and conventions.no_ideal == "apart"
            said = ["it counts a query without an ideal as 0"] if none else []
            yield Reading(actual / best if best else 0.0, [*causes, *why, *said])
    if seen.normalized is not True:
        yield Reading(actual, [*causes, "the score is DCG, not divided by the ideal"])


def _ideals(
    hits: Sequence[float | None], seen: Seen, conventions: Conventions
) -> Iterator[tuple[float, list[str]]]:
    """Each ideal that may have been taken, and where it is not ours."""
    n = len(hits)
    ratings = sorted(seen.ratings, reverse=True)
    best = _dcg_of(ratings[:n])
    short = [f"it cuts the ideal to the {n} hits returned"]
    short = short if n < min(conventions.k, len(ratings)) else []
    if seen.ways.ideal_of_hits:
        retrieved = _dcg_of(sorted((r for r in hits if r is not None), reverse=True))
        alone = [f"it makes the ideal of the {n} hits returned alone"]
        yield retrieved, short if retrieved == best else alone
        return
    yield best, short
    yield _dcg_of(ratings[: seen.k or conventions.k]), []


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
