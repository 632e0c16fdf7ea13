"""One query as the bounds see it: what is rated, and where the unrated stand. Pure.

The convention: only documents that a side returned within k are considered. A document beyond k
on both sides stays unrated, as `--fill top-k` leaves it, and moves neither figure nor ideal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relgate.eval.lists.types import match_key
from relgate.eval.metrics.conventions import Conventions
from relgate.eval.metrics.kernel import discounts

__all__ = ["Pool", "make_pool"]

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """One query. Pairs are (before, after); rank 0 says: not within k.

    Attributes:
        hist: rated documents of each grade, in the runs or not; shape (levels,).
        docs: match keys of the unrated documents whose grade is open.
        ranks: of each of them on both sides, shape (m, 2).
        dcg: of the rated documents.
        first: rank of the first relevant rated document.
        relevant: relevant rated documents within k.
        best_rank: rank of the first rated document that has the best grade known.
    """

    hist: _Ints
    docs: tuple[str, ...]
    ranks: _Ints
    dcg: tuple[float, float]
    first: tuple[int, int]
    relevant: tuple[int, int]
    best_rank: tuple[int, int]

    @property
    def best(self) -> int:
        """The best grade known; -1 when nothing is rated."""
        known = np.flatnonzero(self.hist)
        return int(known[-1]) if len(known) else -1

    @property
    def has_ideal(self) -> bool:
        """A rated document is above grade 0."""
        return self.best > 0

    @property
    def rated(self) -> bool:
        """Any document is rated."""
        return self.best >= 0

    def discounts(self, k: int) -> _Floats:
        """Of each open document on both sides, 0 where not within k; shape (m, 2)."""
        return np.concatenate(([0.0], discounts(k)))[self.ranks]


def make_pool(
    grades: Mapping[str, int],
    before: Sequence[str],
    after: Sequence[str],
    conventions: Conventions,
    *,
    max_grade: int,
    askable: Sequence[str] | None = None,
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
    """
    tops = [_ranks(side, conventions.k) for side in (before, after)]
    pool = dict.fromkeys((*tops[0], *tops[1]) if askable is None else askable)
    docs = tuple(doc for doc in pool if doc not in grades)
    rated = [{doc: grades[doc] for doc in top if doc in grades} for top in tops]
    gains, weight = conventions.gains(max_grade + 1), discounts(conventions.k)
    best = max(grades.values(), default=-1)
    floor = conventions.floor

    def first(i: int, least: int) -> int:
        return min((tops[i][doc] for doc, grade in rated[i].items() if grade >= least), default=0)

    def dcg(i: int) -> float:
        return sum(float(gains[g] * weight[tops[i][doc] - 1]) for doc, g in rated[i].items())

    def relevant(i: int) -> int:
        return sum(grade >= floor for grade in rated[i].values())

    ranks = [[top.get(doc, 0) for top in tops] for doc in docs]
    return Pool(
        hist=np.bincount(np.fromiter(grades.values(), np.int64), minlength=max_grade + 1),
        docs=docs,
        ranks=np.array(ranks, np.int64).reshape(len(docs), 2),
        dcg=(dcg(0), dcg(1)),
        first=(first(0, floor), first(1, floor)),
        relevant=(relevant(0), relevant(1)),
        best_rank=(first(0, best), first(1, best)),
    )


def _ranks(docs: Sequence[str], k: int) -> dict[str, int]:
    """The rank of each document's first appearance within k."""
    out: dict[str, int] = {}
    for rank, doc in enumerate(docs[:k], start=1):
        out.setdefault(match_key(doc), rank)
    return out
