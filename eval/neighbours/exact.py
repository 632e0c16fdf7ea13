"""Exact nearest neighbours by brute force, block by block. Pure.

Recall@k of an approximate index means nothing without the exact neighbours (Aumueller, Bernhardsson
and Faithfull, "ANN-Benchmarks", 2020): what a search returned is held against these.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from relgate.rubrics.errors import InputError, UsageError

__all__ = ["DISTANCES", "Distance", "Neighbours", "exact_neighbours"]

Distance = Literal["cosine", "dot", "l2"]
DISTANCES: tuple[str, ...] = get_args(Distance)

TIE = 1e-9
"""Scores nearer than this, relative to the larger, are a tie: sums in another order differ so."""

_ROUNDING = 1e-6
"""How far a distance out of products may be off, relative to the vectors' lengths."""

_BLOCK_BYTES = 64 * 2**20
_DIMENSIONS = 2

_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Neighbours:
    """The nearest documents of one query.

    Attributes:
        rows: their rows in the documents, nearest first, ties in row order. All that tie with
            the k-th are in it, so it may be longer than k.
        scores: of each; cosine or dot product, or the Euclidean distance negated.
    """

    rows: NDArray[np.int64]
    scores: _Floats


def exact_neighbours(
    queries: NDArray[np.generic],
    documents: NDArray[np.generic],
    *,
    k: int,
    distance: Distance,
    block_rows: int | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[Neighbours]:
    """The k nearest documents of each query, all of them looked at, in double precision.

    Args:
        queries: shape (nq, d).
        documents: shape (n, d); may be memory-mapped, a block at a time is read.
        k: how many, 1 and up; all of them where there are fewer documents.
        distance: `cosine` and `dot`, the greatest first; `l2`, the least first.
        block_rows: documents a block; by default about 64 MiB of scores.
        on_progress: told documents done and all.

    Raises:
        UsageError: k below 1, or no such distance.
        InputError: shapes that do not fit, no vector, a component that is not finite, or, for
            cosine, a vector of length 0.
    """
    if k < 1:
        raise UsageError(f"k is {k}; it must be 1 or more")
    if distance not in DISTANCES:
        raise UsageError(f"no distance {distance!r}; one of: {', '.join(DISTANCES)}")
    _check_shapes(queries, documents)
    wanted = _prepared(queries, 0, "query", distance)
    size = block_rows or max(1, _BLOCK_BYTES // (8 * max(len(wanted), wanted.shape[1])))
    lengths: list[float] = np.linalg.norm(wanted, axis=1).tolist()
    slack = [_ROUNDING * length if distance == "l2" else 0.0 for length in lengths]
    kept = [Neighbours(np.empty(0, np.int64), np.empty(0)) for _ in wanted]
    for start in range(0, len(documents), size):
        block = _prepared(documents[start : start + size], start, "document", distance)
        scores = _scores(wanted, block, distance)
        kept = [
            _merged(old, row, start, k, more)
            for old, row, more in zip(kept, scores, slack, strict=True)
        ]
        if on_progress is not None:
            on_progress(start + len(block), len(documents))
    if distance == "l2":
        kept = [_measured(q, documents, near, k) for q, near in zip(wanted, kept, strict=True)]
    return kept


def _check_shapes(queries: NDArray[np.generic], documents: NDArray[np.generic]) -> None:
    for name, found in (("query", queries), ("document", documents)):
        if found.ndim != _DIMENSIONS or not found.size:
            raise InputError(
                f"the {name} vectors have shape {found.shape}", mend="give one row a vector"
            )
        if found.dtype.kind not in "fiu":
            raise InputError(f"the {name} vectors are {found.dtype}", mend="give plain numbers")
    if queries.shape[1] != documents.shape[1]:
        raise InputError(
            f"query vectors have {queries.shape[1]} components, document vectors "
            f"{documents.shape[1]}",
            mend="take both from one model",
        )


def _prepared(vectors: NDArray[np.generic], start: int, name: str, distance: Distance) -> _Floats:
    """In double precision, checked; for cosine of length 1."""
    found = np.asarray(vectors, np.float64)
    bad = ~np.isfinite(found).all(axis=1)
    if bad.any():
        row = start + int(bad.argmax())
        raise InputError(f"{name} vector {row} has a component that is no number", mend="mend it")
    if distance != "cosine":
        return found
    lengths = np.linalg.norm(found, axis=1)
    if not lengths.all():
        row = start + int((lengths == 0).argmax())
        mend = "drop it: cosine is not defined for it"
        raise InputError(f"{name} vector {row} has length 0", mend=mend)
    unit: _Floats = found / lengths[:, None]
    return unit


def _scores(queries: _Floats, block: _Floats, distance: Distance) -> _Floats:
    """Shape (nq, block), the greatest nearest."""
    products: _Floats = queries @ block.T
    if distance != "l2":
        return products
    squares = (queries**2).sum(axis=1)[:, None] + (block**2).sum(axis=1)[None, :]
    distances: _Floats = -np.sqrt(np.maximum(squares - 2 * products, 0.0))
    return distances


def _merged(old: Neighbours, scores: _Floats, start: int, k: int, slack: float) -> Neighbours:
    """The old neighbours and a block's, cut to the k nearest and those that tie with the k-th."""
    if len(old.scores) >= k:  # most blocks bring next to nothing
        new = np.flatnonzero(scores >= _least(old.scores[k - 1], slack))
        if not len(new):
            return old
    else:
        new = np.arange(len(scores))
    rows = np.concatenate([old.rows, new + start])
    return _cut(rows, np.concatenate([old.scores, scores[new]]), k, slack)


def _cut(rows: NDArray[np.int64], scores: _Floats, k: int, slack: float) -> Neighbours:
    if len(scores) > k:
        near = scores >= _least(np.partition(scores, len(scores) - k)[len(scores) - k], slack)
        rows, scores = rows[near], scores[near]
    order = np.lexsort((rows, -scores))
    return Neighbours(rows[order], scores[order])


def _measured(
    query: _Floats, documents: NDArray[np.generic], near: Neighbours, k: int
) -> Neighbours:
    """Distances of the candidates by their differences: by products they are rounded."""
    apart = np.asarray(documents[near.rows], np.float64) - query
    return _cut(near.rows, 0.0 - np.linalg.norm(apart, axis=1), k, 0.0)


def _least(kth: float, slack: float) -> float:
    """The least score that may tie with the k-th; `slack` is kept on top, to be measured later."""
    return float(kth - max(TIE * max(1.0, abs(kth)), slack + _ROUNDING * abs(kth) * (slack > 0)))
