"""Asks a judge the same thing in several ways. I/O through the judge only.

Give an uncached judge: a cache would answer the second asking with the first one's grade.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Sequence

from relgate.judge.robustness.rates import Verdict, share
from relgate.judge.robustness.types import (
    Batch,
    BatchSizeCheck,
    PositionCheck,
    PositionRow,
    RepeatCheck,
)
from relgate.judge.robustness.usual import Grading, departures, place_p_value, rates_by_place
from relgate.judge.types import Candidate, JudgedHit
from relgate.rubrics.errors import UsageError

__all__ = [
    "GradeInOrder",
    "check_batch_size",
    "check_positions",
    "check_repeats",
    "error_counts",
]

GradeInOrder = Callable[[str, Sequence[Candidate]], Awaitable[list[JudgedHit]]]
"""Grades candidates in one call, in the order given: `LlmJudge.grade_in_order`."""

_CERTAIN = 0.01
_LEAST_ASKINGS = 2


async def check_positions(
    ask: GradeInOrder,
    batches: Sequence[Batch],
    *,
    shuffles: int = 5,
    seed: int = 0,
    limit: float = 0.10,
) -> PositionCheck:
    """Whether a grade depends on where in the prompt its candidate stands.

    Args:
        ask: one call in the given order.
        batches: what to ask about; each of two candidates or more.
        shuffles: orders of each batch, 2 or more.
        seed: of the orders.
        limit: the greatest rate that passes.

    Raises:
        UsageError: fewer than 2 shuffles, or a batch of one.
    """
    _need(shuffles, "shuffles")
    _need_company(batches)
    orders = [
        (b, _shuffled(batch, seed=seed, shuffle=s))
        for s in range(shuffles)
        for b, batch in enumerate(batches)
    ]
    gradings, errors = await _ask_all(ask, batches, orders)
    counted = [
        [(place, d) for (place, _), d in zip(item, departures([g for _, g in item]), strict=True)]
        for item in gradings
        if len(item) >= _LEAST_ASKINGS
    ]
    rate = share(sum(_mean([d for _, d in item]) for item in counted), len(counted))
    by_place = rates_by_place(counted)
    place, excess = _standing_out(by_place)
    p_value = place_p_value(counted, seed=seed)
    asked = sum(len(order) for _, order in orders)
    verdict = _measured(rate.against(limit), asked, errors)
    out = excess is not None and excess > limit and p_value is not None and p_value < _CERTAIN
    if verdict is Verdict.WITHIN and out:
        verdict = Verdict.FLAGGED
    return PositionCheck(
        items=len(gradings),
        shuffles=shuffles,
        seed=seed,
        asked=asked,
        errors=errors,
        rate=rate,
        by_position=_position_rows(by_place, gradings),
        stands_out=place,
        excess=excess,
        p_value=p_value,
        limit=limit,
        verdict=verdict,
    )


async def check_repeats(
    ask: GradeInOrder, batches: Sequence[Batch], *, repeats: int = 3, limit: float = 0.10
) -> RepeatCheck:
    """Whether a grade changes when the very same is asked again.

    Args:
        ask: one call in the given order.
        batches: what to ask about.
        repeats: askings of each batch, 2 or more.
        limit: the greatest rate that passes.

    Raises:
        UsageError: fewer than 2 repeats.
    """
    _need(repeats, "repeats")
    orders = [
        (b, list(range(len(batch.candidates))))
        for _ in range(repeats)
        for b, batch in enumerate(batches)
    ]
    gradings, errors = await _ask_all(ask, batches, orders)
    grades = [[g for _, g in item] for item in gradings if len(item) >= _LEAST_ASKINGS]
    rate = share(sum(_mean(departures(item)) for item in grades), len(grades))
    asked = sum(len(order) for _, order in orders)
    return RepeatCheck(
        items=len(gradings),
        repeats=repeats,
        asked=asked,
        errors=errors,
        rate=rate,
        changed=sum(len(set(item)) > 1 for item in grades),
        limit=limit,
        verdict=_measured(rate.against(limit), asked, errors),
    )


async def check_batch_size(
    ask: GradeInOrder, batches: Sequence[Batch], *, limit: float = 0.10
) -> BatchSizeCheck:
    """Whether a grade depends on how many candidates share its call: in a batch against alone.

    Args:
        ask: one call in the given order.
        batches: what to ask about; each of two candidates or more.
        limit: the greatest rate that passes.

    Raises:
        UsageError: a batch of one.
    """
    _need_company(batches)
    alone = [Batch(b.query, (candidate,)) for b in batches for candidate in b.candidates]
    said = await asyncio.gather(
        *(_in_order(ask, b, list(range(len(b.candidates)))) for b in (*batches, *alone))
    )
    together = [hit for hits in said[: len(batches)] for hit in hits]
    apart = [hit for hits in said[len(batches) :] for hit in hits]
    errors = error_counts([*together, *apart])
    both = [
        (a.grade, b.grade) for a, b in zip(together, apart, strict=True) if a.graded and b.graded
    ]
    rate = share(sum(a != b for a, b in both), len(both))
    return BatchSizeCheck(
        items=len(alone),
        batch_size=max((len(batch.candidates) for batch in batches), default=0),
        asked=2 * len(alone),
        errors=errors,
        rate=rate,
        mean_shift=_mean([a - b for a, b in both]) if both else None,
        limit=limit,
        verdict=_measured(rate.against(limit), 2 * len(alone), errors),
    )


async def _ask_all(
    ask: GradeInOrder, batches: Sequence[Batch], orders: Sequence[tuple[int, list[int]]]
) -> tuple[list[list[Grading]], dict[str, int]]:
    """Per item, batch by batch, its gradings; and the errors. `orders`: (batch, order) a call."""
    said = await asyncio.gather(*(_in_order(ask, batches[b], order) for b, order in orders))
    items: list[list[list[Grading]]] = [[[] for _ in batch.candidates] for batch in batches]
    for (b, order), hits in zip(orders, said, strict=True):
        for place, (item, hit) in enumerate(zip(order, hits, strict=True), start=1):
            if hit.graded:
                items[b][item].append((place, hit.grade))
    flat = [item for batch in items for item in batch]
    return flat, error_counts([hit for hits in said for hit in hits])


async def _in_order(ask: GradeInOrder, batch: Batch, order: Sequence[int]) -> list[JudgedHit]:
    hits = await ask(batch.query, [batch.candidates[i] for i in order])
    if len(hits) != len(order):
        raise RuntimeError("the judge did not return one row a candidate")
    return hits


def _shuffled(batch: Batch, *, seed: int, shuffle: int) -> list[int]:
    """An order of the batch from the seed: the same on every machine and Python."""

    def key(i: int) -> bytes:
        material = f"{seed}:{shuffle}:{i}:{batch.query}:{batch.candidates[i].text}"
        return hashlib.sha256(material.encode("utf-8", "surrogatepass")).digest()

    return sorted(range(len(batch.candidates)), key=key)


def error_counts(hits: Sequence[JudgedHit]) -> dict[str, int]:
    """How many of the hits failed, by error."""
    return dict(sorted(Counter(str(hit.error) for hit in hits if not hit.graded).items()))


def _measured(verdict: Verdict, asked: int, errors: dict[str, int]) -> Verdict:
    """No verdict on a judge that failed at more than half of what it was asked."""
    return Verdict.UNMEASURED if 2 * sum(errors.values()) > asked else verdict


def _standing_out(by_place: dict[int, tuple[float, int]]) -> tuple[int | None, float | None]:
    """The place with the highest rate, and by how much it exceeds all others."""
    if len(by_place) < _LEAST_ASKINGS:
        return None, None
    place = max(by_place, key=lambda p: by_place[p][0] / by_place[p][1])
    departed, n = by_place[place]
    others, m = (sum(x) for x in zip(*(v for p, v in by_place.items() if p != place), strict=True))
    return place, departed / n - others / m


def _position_rows(
    by_place: dict[int, tuple[float, int]], gradings: Sequence[Sequence[Grading]]
) -> tuple[PositionRow, ...]:
    grades: defaultdict[int, list[int]] = defaultdict(list)
    for item in gradings:
        for place, grade in item:
            grades[place].append(grade)
    return tuple(
        PositionRow(
            place,
            share(*by_place[place]) if place in by_place else share(0, 0),
            _mean(grades[place]),
        )
        for place in sorted(grades)
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _need(times: int, name: str) -> None:
    if times < _LEAST_ASKINGS:
        raise UsageError(f"{name} is {times}; a change shows in 2 or more")


def _need_company(batches: Sequence[Batch]) -> None:
    if any(len(batch.candidates) < _LEAST_ASKINGS for batch in batches):
        raise UsageError("a batch has one candidate; order and size show in 2 or more")
