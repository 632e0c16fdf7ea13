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
    "average_precision",
    "dcg",
    "discounts",
    "expected_reciprocal_rank",
    "hit",
    "ideal_dcg",
    "ndcg",
    "precision",
    "rank_biased_precision",
    "rank_biased_residual",
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


def average_precision(top: _Grades, hist: _Ints, floor: int) -> _Floats:
    """Mean precision at the ranks of relevant documents, over all judged relevant ones.

    As trec_eval's map_cut. NaN where there is no judged relevant document. Shape (nq,).
    """
    relevant = (top >= floor).astype(np.float64)
    at_rank: _Floats = np.cumsum(relevant, axis=1, dtype=np.float64)
    found = np.asarray((at_rank * relevant) @ (1.0 / np.arange(1, top.shape[1] + 1)), np.float64)
    total = hist[:, floor:].sum(axis=1)
    return np.where(total > 0, found / np.maximum(total, 1), np.nan)


def expected_reciprocal_rank(top: _Grades, levels: int) -> _Floats:
    """ERR: the mean reciprocal rank at which a reader stops (Chapelle et al. 2009). Shape (nq,).

    A document of grade g stops the reader with probability (2^g - 1) / 2^(levels - 1).
    """
    chance = (np.exp2(np.arange(levels)) - 1.0) / 2.0 ** (levels - 1)
    stops = np.concatenate((chance, np.zeros(_MARKS)))[top]
    goes_on: _Floats = np.cumprod(1.0 - stops, axis=1, dtype=np.float64)
    reaches = np.column_stack((np.ones(len(top)), goes_on))[:, : top.shape[1]]
    return np.asarray((stops * reaches) @ (1.0 / np.arange(1, top.shape[1] + 1)), np.float64)


def rank_biased_precision(top: _Grades, gains: _Floats, persistence: float) -> _Floats:
    """RBP: gain, as a share of the best gain, at rank i times (1 - p) p^(i - 1). Shape (nq,).

    Moffat and Zobel 2008. Gains are of each grade, shape (G,).
    """
    table = np.concatenate((gains / gains[-1], np.zeros(_MARKS)))
    weights = _readers(top.shape[1], persistence)
    return np.asarray(table[top] @ weights, np.float64)


def rank_biased_residual(top: _Grades, persistence: float) -> _Floats:
    """How much RBP could rise: the unrated ranks at full gain, and all below the list's end.

    RBP and its residual add up to at most 1. Shape (nq,).
    """
    weights = _readers(top.shape[1], persistence)
    depth = np.count_nonzero(top != NO_DOCUMENT, axis=1)
    return np.asarray((top == UNRATED) @ weights + np.power(persistence, depth), np.float64)


def _readers(n: int, persistence: float) -> _Floats:
    """RBP's weight of each rank 1..n."""
    return np.asarray((1.0 - persistence) * np.power(persistence, np.arange(n)), np.float64)


def share(part: _Ints, whole: _Ints) -> _Floats:
    """Part over whole, entry by entry; NaN where the whole is 0. Shape as given."""
    out = np.full(whole.shape, np.nan)
    np.divide(part, whole, out=out, where=whole > 0)
    return out
