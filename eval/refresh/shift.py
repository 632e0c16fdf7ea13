"""How far a run's NDCG moves because of its labels alone. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from relgate.eval.lists.types import JudgmentList, Query
from relgate.eval.metrics.align import Axis
from relgate.eval.metrics.compare import TOLERANCE, compare_values
from relgate.eval.metrics.conventions import Conventions, Metric
from relgate.eval.metrics.score import score_runs
from relgate.eval.metrics.types import Mean, RunScores
from relgate.eval.runs.types import Run

__all__ = ["QueryShift", "RunShift", "run_shifts"]


@dataclass(frozen=True, slots=True)
class QueryShift:
    """One query's NDCG under the old and the new labels."""

    query: Query
    old: float
    new: float


@dataclass(frozen=True, slots=True)
class RunShift:
    """One run under two lists: the documents are the same, so what moves are the labels.

    Attributes:
        name: the run's name.
        old: mean under the old list, over the queries that have a value there.
        new: mean under the new list, likewise.
        delta: mean of new - old over the queries that have a value under both; NaN over none.
        n: how many queries that is.
        lost: queries that have a value under the old list alone.
        gained: queries that have a value under the new list alone.
        unrated_old: documents within k, over all queries, without a judgment in the old list.
        unrated_new: likewise in the new list.
        queries: those that moved, by size of the move, then in the axis's order.
    """

    name: str
    old: Mean
    new: Mean
    delta: float
    n: int
    lost: int
    gained: int
    unrated_old: int
    unrated_new: int
    queries: tuple[QueryShift, ...]


def run_shifts(
    old: JudgmentList,
    new: JudgmentList,
    runs: Sequence[Run],
    axis: Axis,
    conventions: Conventions,
) -> tuple[RunShift, ...]:
    """NDCG of each run under the old list and under the new.

    Args:
        old: the list that `axis` was made of.
        new: a list of the same queries.
        runs: the runs that `axis` was made of.
        axis: from `align`.
        conventions: depth, floor, gain.

    Raises:
        UsageError: the floor lies above the scale, or the new list has other queries.
    """
    sides = (score_runs(listed, runs, axis, conventions) for listed in (old, new))
    return tuple(_shift(*pair) for pair in zip(*sides, strict=True))


def _shift(old: RunScores, new: RunScores) -> RunShift:
    values = (
        np.where(side.counted(Metric.NDCG), side.values[Metric.NDCG], np.nan) for side in (old, new)
    )
    paired = compare_values(*values, name=old.conventions.name(Metric.NDCG))
    moved = np.flatnonzero(np.abs(paired.deltas) > TOLERANCE)
    order: list[int] = moved[np.argsort(-np.abs(paired.deltas[moved]), kind="stable")].tolist()
    return RunShift(
        name=old.name,
        old=old.mean(Metric.NDCG),
        new=new.mean(Metric.NDCG),
        delta=paired.mean_delta,
        n=paired.n,
        lost=len(paired.before_only),
        gained=len(paired.after_only),
        unrated_old=int(old.unrated.sum()),
        unrated_new=int(new.unrated.sum()),
        queries=tuple(
            QueryShift(
                old.queries[int(paired.index[i])], float(paired.before[i]), float(paired.after[i])
            )
            for i in order
        ),
    )
