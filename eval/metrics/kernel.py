"""The metrics, each defined once, over all queries at a time. Pure.

Input is the grade matrix `top`, int16 of shape (nq, w) with w <= k: the grade at each rank, or

    UNRATED      -1   a document that nobody judged: gains nothing, keeps its rank
    NO_DOCUMENT  -2   the list has ended
    REPEAT       -3   a document already seen higher up: gains nothing, keeps its rank,
                      is neither rated nor unrated

and the histogram `hist`, integers of shape (nq, G): how many judged documents of each grade
0..G-1 the query has. The ideal is counted from it, without a sort. A NaN says undefined.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "NO_DOCUMENT",
    "REPEAT",
    "UNRATED",
    "dcg",
    "discounts",
    "hit",
    "ideal_dcg",
    "ndcg",
    "precision",
    "recall",
    "reciprocal_rank",
    "relevant_counts",
    "share",
]

UNRATED = -1
NO_DOCUMENT = -2
REPEAT = -3

_MARKS = 3
_BLOCK_CELLS = 1 << 19  # float64 cells of a scratch block: 4 MB stays in warm pages

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]
_Grades = NDArray[np.int16]


def discounts(n: int) -> _Floats:
    """1 / log2(rank + 1) of the ranks 1..n; shape (n,)."""
    return np.asarray(1.0 / np.log2(np.arange(2, n + 2)), np.float64)


def dcg(top: _Grades, gains: _Floats) -> _Floats:
    """Discounted cumulative gain of each row; shape (nq,).

    Args:
        top: the grade matrix; every grade is below len(gains).
        gains: the gain of each grade, shape (G,).
    """
    rows, width = top.shape
    table = np.concatenate((gains, np.zeros(_MARKS)))  # the marks -1, -2, -3 index its end
    weights = discounts(width)
    out = np.zeros(rows)
    step = max(1, _BLOCK_CELLS // max(1, width))
    for start in range(0, rows, step):
        out[start : start + step] = table[top[start : start + step]] @ weights
    return out


def ideal_dcg(hist: _Ints, gains: _Floats, k: int) -> _Floats:
    """The greatest DCG at k of each query's judged documents; shape (nq,).

    Grades from the best down share out the first k discounts.
    """
    cumulative = np.concatenate(([0.0], np.cumsum(discounts(k))))
    ranks = np.minimum(np.cumsum(hist[:, ::-1], axis=1), k)  # documents of this grade or better
    shares = np.diff(cumulative[ranks], axis=1, prepend=0.0)
    return np.asarray(shares @ gains[::-1], np.float64)


def ndcg(actual: _Floats, ideal: _Floats) -> _Floats:
    """DCG over ideal DCG, 0..1; NaN where the ideal is 0. Shape (nq,)."""
    ratio = np.full(ideal.shape, np.nan)
    np.divide(actual, ideal, out=ratio, where=ideal > 0)
    np.minimum(ratio, 1.0, out=ratio)  # the two sums may round apart in the last bit
    return ratio


def reciprocal_rank(top: _Grades, floor: int) -> _Floats:
    """1 / rank of the first document at the floor or above, 0 when there is none. Shape (nq,)."""
    if not top.shape[1]:
        return np.zeros(len(top))
    relevant = top >= floor
    first = relevant.argmax(axis=1)
    found = np.take_along_axis(relevant, first[:, None], axis=1)[:, 0]
    return np.where(found, 1.0 / (first + 1), 0.0)


def relevant_counts(top: _Grades, floor: int) -> _Ints:
    """How many documents of each row are at the floor or above; shape (nq,)."""
    relevant: _Ints = np.count_nonzero(top >= floor, axis=1).astype(np.int64)
    return relevant


def precision(top: _Grades, floor: int, k: int) -> _Floats:
    """Relevant documents over k, however few there are. Shape (nq,)."""
    return relevant_counts(top, floor) / k


def hit(top: _Grades, floor: int) -> _Floats:
    """1 where a relevant document is within k, else 0. Shape (nq,)."""
    return (relevant_counts(top, floor) > 0).astype(np.float64)


def recall(top: _Grades, hist: _Ints, floor: int) -> _Floats:
    """Relevant documents within k over all judged relevant ones; NaN where there are none."""
    return share(relevant_counts(top, floor), hist[:, floor:].sum(axis=1))


def share(part: _Ints, whole: _Ints) -> _Floats:
    """Part over whole, entry by entry; NaN where the whole is 0. Shape as given."""
    out = np.full(whole.shape, np.nan)
    np.divide(part, whole, out=out, where=whole > 0)
    return out
