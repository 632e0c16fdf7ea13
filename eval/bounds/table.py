"""The bounds of all queries side by side, kept up to date as grades come in. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relgate.eval.bounds.pool import Pool
from relgate.eval.bounds.query import (
    delta_bounds,
    falls,
    mrr_delta_bounds,
    precision_delta_bounds,
)
from relgate.eval.bounds.ratio import Interval
from relgate.eval.metrics.conventions import Conventions

__all__ = ["BoundsTable", "QueryBounds", "bound_query", "tabulate"]

_ROUNDING = 1e-12  # sums in another order may round apart; bounds must hold all the same

_Bools = NDArray[np.bool_]
_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class BoundsTable:
    """Per query, shape (n,) or (n, 2) for (least, greatest).

    Attributes:
        ndcg: NDCG after minus before; NaN where no fill gives it a value.
        mrr: likewise MRR.
        precision: likewise P@k.
        sure: queries in the means whatever the fill.
        maybe: queries that some fills bring in.
        ideal: queries that have an ideal whatever the fill.
        maybe_ideal: queries that some fills give one.
        falls: whether its best document leaves the top, (in every fill, in some fill).
        open: unrated documents whose grade is open.
        doubted: judged documents that the judge may have got wrong.
        exact: every bound is reached by some fill.
        binary: the scale has two grades, so that MRR gates and not NDCG.
    """

    ndcg: _Floats
    mrr: _Floats
    precision: _Floats
    sure: _Bools
    maybe: _Bools
    ideal: _Bools
    maybe_ideal: _Bools
    falls: _Bools
    open: _Ints
    doubted: _Ints
    exact: bool
    binary: bool

    @property
    def primary(self) -> _Floats:
        """The deltas of the metric that gates."""
        return self.mrr if self.binary else self.ndcg

    @property
    def moving(self) -> _Bools:
        """Queries with a document that may get one grade or another; shape (n,)."""
        return (self.open > 0) | (self.doubted > 0)

    @property
    def width(self) -> _Floats:
        """How far each query's deltas of any metric may still move; shape (n,)."""
        each = np.stack([x[:, 1] - x[:, 0] for x in (self.ndcg, self.mrr, self.precision)])
        return np.asarray(np.nan_to_num(each).max(axis=0, initial=0.0), np.float64)


@dataclass(frozen=True, slots=True)
class QueryBounds:
    """One query's bounds, as in `BoundsTable`."""

    ndcg: Interval
    mrr: Interval
    precision: Interval
    falls: tuple[bool, bool]


def bound_query(pool: Pool, conventions: Conventions, *, top_rank: int) -> QueryBounds:
    """Bounds one query.

    Args:
        pool: the query.
        conventions: depth, floor, gain, what becomes of queries without an ideal.
        top_rank: R6's, the ranks that a best document must stay within.
    """
    ndcg = delta_bounds(pool, conventions)
    if conventions.no_ideal == "zero" and not pool.has_ideal:  # where all are 0, so is NDCG
        low, high = (0.0, 0.0) if np.isnan(ndcg.low) else (ndcg.low, ndcg.high)
        ndcg = Interval(min(low, 0.0), max(high, 0.0), ndcg.exact)
    return QueryBounds(
        ndcg=ndcg,
        mrr=mrr_delta_bounds(pool, conventions.floor),
        precision=precision_delta_bounds(pool, conventions),
        falls=falls(pool, conventions.floor, top_rank),
    )


def tabulate(
    pools: Sequence[Pool], rows: Sequence[QueryBounds], conventions: Conventions
) -> BoundsTable:
    """Sets the bounds of all queries side by side.

    Args:
        pools: one a query.
        rows: from `bound_query`, in the same order.
        conventions: what becomes of queries without an ideal.
    """
    ideal = np.array([pool.has_ideal for pool in pools], np.bool_)
    held = np.array([len(pool.docs) for pool in pools], np.int64)
    doubted = np.array([len(pool.doubted) for pool in pools], np.int64)
    moving = held + doubted > 0
    zero = conventions.no_ideal == "zero"
    sure = np.array([pool.rated for pool in pools], np.bool_) if zero else ideal
    return BoundsTable(
        ndcg=_stack([row.ndcg for row in rows]),
        mrr=_stack([row.mrr for row in rows]),
        precision=_stack([row.precision for row in rows]),
        sure=sure,
        maybe=~sure & moving,
        ideal=ideal,
        maybe_ideal=~ideal & moving,
        falls=np.array([row.falls for row in rows], np.bool_).reshape(len(rows), 2),
        open=held,
        doubted=doubted,
        exact=all(row.ndcg.exact for row in rows),
        binary=bool(pools) and len(pools[0].hist) == 2,  # noqa: PLR2004 - grades 0 and 1
    )


def _stack(intervals: Sequence[Interval]) -> _Floats:
    rows = [(i.low - _ROUNDING, i.high + _ROUNDING) for i in intervals]
    return np.array(rows, np.float64).reshape(len(rows), 2)
