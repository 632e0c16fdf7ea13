"""Bounds of one query: NDCG of a side, deltas of NDCG, MRR and P@k, its best document. Pure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from relgate.eval.bounds.pool import Pool
from relgate.eval.bounds.ratio import Interval, ratio_bounds
from relgate.eval.metrics.conventions import Conventions

__all__ = ["delta_bounds", "falls", "mrr_delta_bounds", "ndcg_bounds", "precision_delta_bounds"]

_NOWHERE = np.iinfo(np.int64).max

_Bools = NDArray[np.bool_]
_Ints = NDArray[np.int64]


def ndcg_bounds(pool: Pool, side: int, conventions: Conventions) -> Interval:
    """The least and greatest NDCG of one side, the ideal recomputed for every fill.

    Args:
        pool: the query.
        side: 0 before, 1 after.
        conventions: depth and gain.
    """
    groups = pool.groups(pool.discounts(conventions.k)[:, side])
    gains = conventions.gains(len(pool.hist))
    return ratio_bounds(pool.dcg[side], groups, pool.hist, gains, conventions.k)


def delta_bounds(pool: Pool, conventions: Conventions) -> Interval:
    """The least and greatest NDCG after minus before; one document moves both sides at once."""
    weights = pool.discounts(conventions.k)
    groups = pool.groups(weights[:, 1] - weights[:, 0])
    gains = conventions.gains(len(pool.hist))
    return ratio_bounds(pool.dcg[1] - pool.dcg[0], groups, pool.hist, gains, conventions.k)


def mrr_delta_bounds(pool: Pool, floor: int) -> Interval:
    """The least and greatest reciprocal rank after minus before.

    One side's first relevant document decides its rank. So the extremes make at most one document
    relevant that need not be: any second could only pull the other side up.
    """
    must, can = _relevance(pool, floor)
    first = _far(np.vstack([np.array(pool.first), pool.ranks[must]])).min(axis=0)
    firsts = np.vstack([first, np.minimum(_far(pool.ranks[can]), first)])
    rr = np.where(firsts == _NOWHERE, 0.0, 1.0 / firsts)
    deltas = rr[:, 1] - rr[:, 0]
    return Interval(float(deltas.min()), float(deltas.max()))


def precision_delta_bounds(pool: Pool, conventions: Conventions) -> Interval:
    """The least and greatest P@k after minus before; documents on both sides cancel out."""
    must, can = _relevance(pool, conventions.floor)
    here = pool.ranks > 0
    sure = here[must].sum(axis=0) + np.array(pool.relevant)
    delta = int(sure[1] - sure[0])
    lost = int((here[can, 0] & ~here[can, 1]).sum())
    won = int((here[can, 1] & ~here[can, 0]).sum())
    return Interval((delta - lost) / conventions.k, (delta + won) / conventions.k)


def _relevance(pool: Pool, floor: int) -> tuple[_Bools, _Bools]:
    """Documents that are relevant in every fill, and those that are in some only."""
    can = pool.allowed[:, floor:].any(axis=1)
    must = ~pool.allowed[:, :floor].any(axis=1)
    return np.asarray(must, np.bool_), np.asarray(can & ~must, np.bool_)


def _far(ranks: _Ints) -> _Ints:
    """The ranks, with those of documents that are not within k beyond all others."""
    return np.where(ranks > 0, ranks, _NOWHERE)


def falls(pool: Pool, floor: int, top: int) -> tuple[bool, bool]:
    """Whether the best document falls out of the top ranks, as (in every fill, in some fill).

    It falls when the first document of the best grade was within `top` before and is not after.
    """
    lower = not pool.hist[floor:].any() and bool(pool.allowed[:, :floor].any(axis=1).all())
    fates = [_fate(pool, best, top) for best in range(floor, len(pool.hist)) if _best(pool, best)]
    every = bool(fates) and not lower and all(every for every, _ in fates)
    return every, any(some for _, some in fates)


def _best(pool: Pool, grade: int) -> bool:
    """Whether the best grade of the query can be this one."""
    none_above = not pool.hist[grade + 1 :].any()
    can_stay_below = bool(pool.allowed[:, : grade + 1].any(axis=1).all())
    given = bool(pool.hist[grade] or pool.allowed[:, grade].any())
    return none_above and can_stay_below and given


def _fate(pool: Pool, best: int, top: int) -> tuple[bool, bool]:
    """As `falls`, over the fills whose best grade is `best`."""
    was_in, is_in = ((pool.ranks > 0) & (pool.ranks <= top)).T
    sure_was, sure_is = (0 < rank <= top for rank in pool.first_of[best].tolist())
    can = pool.allowed[:, best]
    must = can & ~pool.allowed[:, :best].any(axis=1)
    was, held = sure_was or (must & was_in).any(), sure_is or (must & is_in).any()
    some = not held and (sure_was or (can & was_in & ~is_in).any())
    elsewhere = pool.hist[best] or (can & ~was_in).any()
    saved = sure_is or (can & is_in).any() or (not was and elsewhere)
    return not saved, bool(some)
