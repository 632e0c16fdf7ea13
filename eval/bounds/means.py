"""Means and shares over queries whose values, and whose very part in the mean, are open. Pure.

A query without a judgment above grade 0 has no ideal and is in no mean; a fill may bring it in.
So each query is `sure` to be in, may be brought in (`maybe`), or neither. Queries do not share
documents' grades, so the extremes of the mean take each query's own extreme.
"""

from __future__ import annotations

from math import nan

import numpy as np
from numpy.typing import NDArray

from relgate.eval.bounds.ratio import Interval

__all__ = ["mean_bounds", "share_bounds"]

_Bools = NDArray[np.bool_]
_Floats = NDArray[np.float64]


def mean_bounds(low: _Floats, high: _Floats, sure: _Bools, maybe: _Bools) -> Interval:
    """The least and greatest mean; NaN both when no query can have a value.

    Args:
        low: each query's least value, NaN where it has none; shape (n,).
        high: each query's greatest.
        sure: queries in the mean in every fill.
        maybe: queries in it in some fills only.
    """
    most = _greatest(high[sure], high[maybe])
    return Interval(-_greatest(-low[sure], -low[maybe]), most)


def _greatest(sure: _Floats, maybe: _Floats) -> float:
    """The greatest mean of all `sure` and any of `maybe`: the largest join while they raise it."""
    joined = np.sort(maybe)[::-1]
    sums = float(sure.sum()) + np.concatenate(([0.0], np.cumsum(joined)))
    counts = len(sure) + np.arange(len(sums))
    means = sums[counts > 0] / counts[counts > 0]
    return float(means.max()) if len(means) else nan


def share_bounds(must: _Bools, can: _Bools, sure: _Bools, maybe: _Bools) -> Interval:
    """The least and greatest share of queries with a property; 0 to 0 over no query.

    Args:
        must: queries that have it in every fill that counts them; shape (n,).
        can: queries that have it in some fill.
        sure: as in `mean_bounds`.
        maybe: likewise.
    """
    return Interval(
        _share(int((must & sure).sum()), 0, int(sure.sum()) + int((maybe & ~must).sum())),
        _share(int((can & sure).sum()), int((can & maybe).sum()), int(sure.sum())),
    )


def _share(counted: int, joining: int, n: int) -> float:
    return (counted + joining) / (n + joining) if n + joining else 0.0
