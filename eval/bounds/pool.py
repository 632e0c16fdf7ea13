"""One query as the bounds see it: what is certain, and where the rest stands. Pure.

The convention: of the unrated, only documents that a side returned within k are considered. A
document beyond k on both sides stays unrated, as `--fill top-k` leaves it, and moves neither
figure nor ideal. A judged document that the judge may have got wrong is considered wherever it
stands: also one in neither run is in the ideal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relgate.eval.bounds.ratio import Group
from relgate.eval.lists.types import match_key
from relgate.eval.metrics.conventions import Conventions
from relgate.eval.metrics.kernel import discounts

__all__ = ["Pool", "make_pool"]

_Bools = NDArray[np.bool_]
_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """One query. Pairs are (before, after); rank 0 says: not within k.

    A document is certain (one grade stays possible), open (unrated: all do) or in doubt (a judge
    graded it, and some others stay possible).

    Attributes:
        hist: certain documents of each grade, in the runs or not; shape (levels,).
        docs: match keys of the open documents.
        doubted: match keys of the documents in doubt.
        ranks: of the open documents, then of those in doubt; shape (m, 2).
        allowed: the grades that stay possible for each of these; shape (m, levels).
        dcg: of the certain documents.
        first: rank of the first relevant certain document.
        relevant: relevant certain documents within k.
        first_of: rank of the first certain document of each grade; shape (levels, 2).
    """

    hist: _Ints
    docs: tuple[str, ...]
    doubted: tuple[str, ...]
    ranks: _Ints
    allowed: _Bools
    dcg: tuple[float, float]
    first: tuple[int, int]
    relevant: tuple[int, int]
    first_of: _Ints

    @property
    def has_ideal(self) -> bool:
        """A document is above grade 0, whatever the fill."""
        return bool(self.hist[1:].any()) or not self.allowed[:, 0].all()

    @property
    def rated(self) -> bool:
        """Any document is rated."""
        return bool(self.hist.any() or self.doubted)

    def discounts(self, k: int) -> _Floats:
        """Of each document that is not certain, on both sides, 0 where not within k; (m, 2)."""
        return np.concatenate(([0.0], discounts(k)))[self.ranks]

    def groups(self, weights: _Floats) -> list[Group]:
        """The documents that are not certain, by the grades that stay possible.

        Args:
            weights: of each of them, shape (m,).
        """
        rows: dict[tuple[int, ...], list[int]] = {}
        for at, allowed in enumerate(self.allowed):
            rows.setdefault(tuple(np.flatnonzero(allowed).tolist()), []).append(at)
        return [Group(weights[at], levels) for levels, at in rows.items()]


def make_pool(
    grades: Mapping[str, int],
    before: Sequence[str],
    after: Sequence[str],
    conventions: Conventions,
    *,
    max_grade: int,
    askable: Sequence[str] | None = None,
    doubts: Mapping[str, Sequence[int]] | None = None,
) -> Pool:
    """Looks at one query.

    Args:
        grades: all judgments of the query, {match key: grade}.
        before: the documents before, best first, with their repeats.
        after: likewise after.
        conventions: depth, floor, gain.
        max_grade: the scale's best grade.
        askable: match keys of the documents that may still get a grade; those within k that have
            none by default. An unrated document that is not among them gains nothing.
        doubts: {match key of a judged document: the grades that stay possible}; those that are
            not in it are certain.
    """
    tops = [_ranks(side, conventions.k) for side in (before, after)]
    pool = dict.fromkeys((*tops[0], *tops[1]) if askable is None else askable)
    docs = tuple(doc for doc in pool if doc not in grades)
    doubts = {doc: kept for doc, kept in (doubts or {}).items() if len(kept) > 1}
    certain = {doc: grade for doc, grade in grades.items() if doc not in doubts}
    rated = [{doc: certain[doc] for doc in top if doc in certain} for top in tops]
    levels = range(max_grade + 1)
    gains, weight = conventions.gains(len(levels)), discounts(conventions.k)
    floor = conventions.floor

    def first(i: int, least: int, most: int) -> int:
        return min((tops[i][doc] for doc, g in rated[i].items() if least <= g <= most), default=0)

    def dcg(i: int) -> float:
        return sum(float(gains[g] * weight[tops[i][doc] - 1]) for doc, g in rated[i].items())

    def relevant(i: int) -> int:
        return sum(grade >= floor for grade in rated[i].values())

    ranks = [[top.get(doc, 0) for top in tops] for doc in (*docs, *doubts)]
    allowed = [[True] * len(levels) for _ in docs]
    allowed += [[g in kept for g in levels] for kept in doubts.values()]
    return Pool(
        hist=np.bincount(np.fromiter(certain.values(), np.int64), minlength=len(levels)),
        docs=docs,
        doubted=tuple(doubts),
        ranks=np.array(ranks, np.int64).reshape(len(ranks), 2),
        allowed=np.array(allowed, np.bool_).reshape(len(ranks), len(levels)),
        dcg=(dcg(0), dcg(1)),
        first=(first(0, floor, max_grade), first(1, floor, max_grade)),
        relevant=(relevant(0), relevant(1)),
        first_of=np.array([[first(i, g, g) for i in (0, 1)] for g in levels], np.int64),
    )


def _ranks(docs: Sequence[str], k: int) -> dict[str, int]:
    """The rank of each document's first appearance within k."""
    out: dict[str, int] = {}
    for rank, doc in enumerate(docs[:k], start=1):
        out.setdefault(match_key(doc), rank)
    return out
