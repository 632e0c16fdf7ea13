"""Bounds of one query: NDCG of a side, deltas of NDCG, MRR and P@k, its best document. Pure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from relgate.eval.bounds.pool import Pool
from relgate.eval.bounds.ratio import Interval, ratio_bounds
from relgate.eval.metrics.conventions import Conventions

__all__ = ["delta_bounds", "falls", "mrr_delta_bounds", "ndcg_bounds", "precision_delta_bounds"]

_Ints = NDArray[np.int64]


def ndcg_bounds(pool: Pool, side: int, conventions: Conventions) -> Interval:
    """The least and greatest NDCG of one side, the ideal recomputed for every fill.

    Args:
        pool: the query.
        side: 0 before, 1 after.
        conventions: depth and gain.
    """
    weights = pool.discounts(conventions.k)[:, side]
    gains = conventions.gains(len(pool.hist))
    return ratio_bounds(pool.dcg[side], weights, pool.hist, gains, conventions.k)


def delta_bounds(pool: Pool, conventions: Conventions) -> Interval:
    """The least and greatest NDCG after minus before; one document moves both sides at once."""
    weights = pool.discounts(conventions.k)
    gains = conventions.gains(len(pool.hist))
    return ratio_bounds(
        pool.dcg[1] - pool.dcg[0], weights[:, 1] - weights[:, 0], pool.hist, gains, conventions.k
    )


def mrr_delta_bounds(pool: Pool) -> Interval:
    """The least and greatest reciprocal rank after minus before.

    One side's first relevant document decides its rank. So the extremes make at most one open
    document relevant: any second could only pull the other side up.
    """
    rr = _reciprocal(np.vstack([pool.first, _sooner(pool.ranks, pool.first)]))
    deltas = rr[:, 1] - rr[:, 0]
    return Interval(float(deltas.min()), float(deltas.max()))


def precision_delta_bounds(pool: Pool, k: int) -> Interval:
    """The least and greatest P@k after minus before; documents on both sides cancel out."""
    here = pool.ranks > 0
    lost = int((here[:, 0] & ~here[:, 1]).sum())
    won = int((here[:, 1] & ~here[:, 0]).sum())
    delta = pool.relevant[1] - pool.relevant[0]
    return Interval((delta - lost) / k, (delta + won) / k)


def falls(pool: Pool, floor: int, top: int) -> tuple[bool, bool]:
    """Whether the best document falls out of the top ranks, as (in every fill, in some fill).

    It falls when the first document of the best grade was within `top` before and is not after.
    """
    before, after = pool.ranks[:, 0], pool.ranks[:, 1]
    was_in = (before > 0) & (before <= top)
    is_in = (after > 0) & (after <= top)
    ours = pool.best >= floor
    held = ours and 0 < pool.best_rank[1] <= top  # a rated best document stays on top
    base = ours and 0 < pool.best_rank[0] <= top and not held
    beaten = pool.best < len(pool.hist) - 1  # an open document may become the only best one
    some = base or bool((was_in & ~is_in).any() and (beaten or not held))
    saved = bool(is_in.any()) or (beaten and bool((~was_in).any()))
    return base and not saved, some


def _sooner(ranks: _Ints, first: tuple[int, int]) -> _Ints:
    """First relevant ranks when one open document is relevant; 0 is none."""
    far = np.iinfo(np.int64).max
    known = np.where(np.array(first) > 0, first, far)
    either = np.minimum(np.where(ranks > 0, ranks, far), known)
    return np.where(either == far, 0, either)


def _reciprocal(ranks: _Ints) -> NDArray[np.float64]:
    out = np.zeros(ranks.shape)
    np.divide(1.0, ranks, out=out, where=ranks > 0)
    return out
