"""Which unrated documents to ask for next: those that can narrow an open rule most. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from relgate.eval.bounds.marks import Marks
from relgate.eval.bounds.pool import Pool
from relgate.eval.bounds.rules import Standing, head_failures, verdict_range
from relgate.eval.bounds.table import BoundsTable
from relgate.eval.review.settings import ReviewSettings
from relgate.eval.review.types import TOLERANCE

__all__ = ["next_documents", "open_rules", "stakes"]

_Floats = NDArray[np.float64]


def open_rules(ranges: Sequence[Standing]) -> tuple[str, ...]:
    """The rules that can still change the verdict: some fill leaves them worse than all others."""
    least, _ = verdict_range(ranges)
    return tuple(s.rule for s in ranges if s.open and s.most > least)


def stakes(
    table: BoundsTable, marks: Marks, settings: ReviewSettings, rules: Sequence[str]
) -> _Floats:
    """How much each query's documents can move the open rules; 0 where not at all.

    Args:
        table: the queries' bounds.
        marks: what the rules know of them.
        settings: the thresholds.
        rules: the open rules, from `open_rules`.
    """
    joins = 1.0 * (table.maybe | table.maybe_ideal)  # it moves how many queries a mean is over
    total: _Floats = np.zeros(len(table.open), np.float64)
    for rule in rules:
        if rule == "R5":
            total += _undecided(table, -settings.query_drop - TOLERANCE) + joins
        elif rule == "R6":
            must, can = head_failures(table, marks, settings)
            total += 1.0 * (can & ~must)
        elif rule == "R7":
            total += _undecided(table, -TOLERANCE) + table.width + joins
        else:
            total += table.width + joins
    total[~table.moving] = 0.0
    return total if total.any() else table.moving.astype(np.float64)


def _undecided(table: BoundsTable, limit: float) -> _Floats:
    low, high = table.primary[:, 0], table.primary[:, 1]
    return ((low < limit) & ~(high < limit)) * (1.0 + table.width)


def next_documents(
    pools: Sequence[Pool], weight: _Floats, *, size: int, k: int
) -> dict[int, tuple[str, ...]]:
    """The next wave: {query's index: match keys of its open documents}, about `size` in all.

    The queries with the most at stake come first. Of each, the half of its documents that move it
    most: what they turn out to be often settles the query without the other half. Where what is
    at stake is the judge's error alone, the queries that still have open documents come in order.

    Args:
        pools: one a query.
        weight: from `stakes`.
        size: how many documents make a wave.
        k: depth.
    """
    wave: dict[int, tuple[str, ...]] = {}
    left = size
    askable = np.array([bool(pool.docs) for pool in pools], np.bool_)
    weight = weight * askable
    if not weight.any():
        weight = askable.astype(np.float64)
    by_stake: list[int] = np.argsort(-weight, kind="stable").tolist()
    for at in by_stake:
        if left <= 0 or weight[at] <= 0:
            break
        taken = _half(pools[at], k)
        wave[at] = taken
        left -= len(taken)
    return wave


def _half(pool: Pool, k: int) -> tuple[str, ...]:
    discounts = pool.discounts(k)[: len(pool.docs)]
    moves = np.abs(discounts[:, 1] - discounts[:, 0])
    order: list[int] = np.lexsort((-discounts.max(axis=1), -moves)).tolist()
    return tuple(pool.docs[i] for i in order[: (len(order) + 1) // 2])
