"""How often gradings depart from their item's usual grade, and whether the place matters. Pure."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

__all__ = ["Grading", "departures", "place_p_value", "rates_by_place"]

Grading = tuple[int, int]
"""Where a candidate stood, from 1, and the grade it got there."""

_DRAWS = 999


def departures(grades: Sequence[int]) -> list[float]:
    """For each grading, 1 where it departs from the item's most frequent grade, else 0.

    Where m grades are equally frequent, any may be the usual one: each of their gradings counts
    1 - 1/m. So the sum is len(grades) less the count of a most frequent grade.
    """
    counts = Counter(grades)
    most = max(counts.values(), default=0)
    ties = sum(count == most for count in counts.values())
    return [1 - 1 / ties if counts[grade] == most else 1.0 for grade in grades]


def rates_by_place(items: Iterable[Sequence[tuple[int, float]]]) -> dict[int, tuple[float, int]]:
    """Place -> (sum of the departures there, gradings there)."""
    sums: defaultdict[int, float] = defaultdict(float)
    counts: Counter[int] = Counter()
    for item in items:
        for place, departed in item:
            sums[place] += departed
            counts[place] += 1
    return {place: (sums[place], counts[place]) for place in sorted(counts)}


def place_p_value(items: Sequence[Sequence[tuple[int, float]]], *, seed: int) -> float | None:
    """How likely rates by place so unequal are, if the place did not matter.

    The shuffles put items at places at random, so under that hypothesis an item's departures may
    be exchanged among its places: a permutation test with 999 draws. Statistic: the sum over
    places of n (rate - overall rate)^2. None when no grading departs.
    """
    if not any(departed for item in items for _, departed in item):
        return None
    rng = random.Random(seed)  # noqa: S311 - a test's draws, no secret
    counts = {place: n for place, (_, n) in rates_by_place(items).items()}
    fixed = [item for item in items if not _varies(item)]
    base = {place: departed for place, (departed, _) in rates_by_place(fixed).items()}
    moving = [
        ([place for place, _ in item], [d for _, d in item]) for item in items if _varies(item)
    ]
    seen = _unevenness(base, moving, counts)
    at_least = 0
    for _ in range(_DRAWS):
        for _places, departed in moving:
            rng.shuffle(departed)
        at_least += _unevenness(base, moving, counts) >= seen - 1e-12
    return (at_least + 1) / (_DRAWS + 1)


def _unevenness(
    base: Mapping[int, float],
    moving: Sequence[tuple[list[int], list[float]]],
    counts: Mapping[int, int],
) -> float:
    """Sum over places of (departures there)^2 / n: the statistic but for a constant."""
    sums = {place: base.get(place, 0.0) for place in counts}
    for places, departed in moving:
        for place, d in zip(places, departed, strict=True):
            sums[place] += d
    return sum(total * total / counts[place] for place, total in sums.items())


def _varies(item: Sequence[tuple[int, float]]) -> bool:
    return len({departed for _, departed in item}) > 1
