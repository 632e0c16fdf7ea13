"""Who graded what: units in rows, raters in columns, gaps as `UNGRADED`. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from relgate.eval.agreement.confusion import (
    Floats,
    accuracy,
    floor_table,
    kappa,
    query_tables,
)
from relgate.eval.agreement.intervals import RESAMPLES, Figure, intervals_of, standard_errors
from relgate.eval.agreement.multirater import (
    RaterShape,
    rater_figures,
    rater_sums,
    unit_counts,
)
from relgate.eval.agreement.pairs import UNGRADED
from relgate.eval.lists.raters import Conflict
from relgate.eval.lists.types import JudgmentList, match_key
from relgate.rubrics.errors import InputError

__all__ = [
    "PairAgreement",
    "RaterAgreement",
    "Ratings",
    "defined",
    "pairwise_agreement",
    "rater_agreement",
    "ratings_of_votes",
    "recorded_grades",
    "why_undefined",
]

Ints = NDArray[np.int64]

_LEAST = 2


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """The grades that several raters gave, one row a unit (a query and a document).

    Attributes:
        grades: (U, R), 0..n_grades-1, or `UNGRADED`.
        raters: R names.
        query: (U,), index into `queries`.
        queries: distinct queries; what is resampled.
        doc_ids: U documents.
        n_grades: size of the scale.
    """

    grades: NDArray[np.int64]
    raters: tuple[str, ...]
    query: NDArray[np.int64]
    queries: tuple[str, ...]
    doc_ids: tuple[str, ...]
    n_grades: int

    def __len__(self) -> int:
        return len(self.doc_ids)

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many raters gave each unit each grade, (U, K)."""
        return unit_counts(self.grades, n_grades=self.n_grades)

    def only(self, raters: Sequence[str]) -> Ratings:
        """The same units, some of the raters, in the order given."""
        at = [self.raters.index(name) for name in raters]
        return Ratings(
            self.grades[:, at], tuple(raters), self.query, self.queries, self.doc_ids, self.n_grades
        )

    def take(self, keep: NDArray[np.bool_]) -> Ratings:
        """The units where `keep` is true, with the queries that they are of."""
        used, query = np.unique(self.query[keep], return_inverse=True)
        return Ratings(
            self.grades[keep],
            self.raters,
            query.astype(np.int64),
            tuple(self.queries[int(i)] for i in used),
            tuple(doc for doc, kept in zip(self.doc_ids, keep.tolist(), strict=True) if kept),
            self.n_grades,
        )

    def with_rater(self, name: str, grades: NDArray[np.int64]) -> Ratings:
        """One more rater, whose grades are in the order of the units."""
        return Ratings(
            np.column_stack([self.grades, grades]),
            (*self.raters, name),
            self.query,
            self.queries,
            self.doc_ids,
            self.n_grades,
        )


def ratings_of_votes(votes: Iterable[Conflict], *, n_grades: int) -> Ratings:
    """The ratings of a list's pairs that several raters graded.

    A grade without a rater is passed over: nobody knows whose it is. Of a rater who graded a pair
    twice the last grade counts.
    """
    named = [
        (pair, {v.rater: v.grade for v in pair.votes if v.rater is not None}) for pair in votes
    ]
    kept = [(pair, own) for pair, own in named if own]
    raters = sorted({name for _, own in kept for name in own})
    column = {name: i for i, name in enumerate(raters)}
    queries = list(dict.fromkeys(pair.query_id for pair, _ in kept))
    row = {name: i for i, name in enumerate(queries)}
    grades = np.full((len(kept), len(raters)), UNGRADED, np.int64)
    for i, (_, own) in enumerate(kept):
        for name, grade in own.items():
            grades[i, column[name]] = grade
    return Ratings(
        grades,
        tuple(raters),
        np.array([row[pair.query_id] for pair, _ in kept], np.int64),
        tuple(queries),
        tuple(pair.doc_id for pair, _ in kept),
        n_grades,
    )


def recorded_grades(ratings: Ratings, labels: JudgmentList, grades: JudgmentList) -> Ints:
    """The grade that a recorded list gives each unit, or `UNGRADED`.

    Args:
        ratings: units of `labels`, whose queries go by their ids.
        labels: the list that the ratings are of.
        grades: the recorded grades; queries meet by id, else by text.

    Raises:
        InputError: another scale, or no unit has a grade.
    """
    if grades.scale.max_grade + 1 != ratings.n_grades:
        raise InputError(
            f"the grades are on the scale {grades.scale.name}, the labels on {labels.scale.name}",
            mend="bring both onto one scale",
        )
    texts = {query.id: match_key(query.shown) for query in labels.queries}
    own = grades.grades_by_query()
    at = {match_key(q.text): i for i, q in enumerate(grades.queries) if q.text is not None}
    at |= {match_key(q.id): i for i, q in enumerate(grades.queries)}
    place = [at.get(match_key(name), at.get(texts[name])) for name in ratings.queries]
    known = [{} if where is None else own[where] for where in place]
    found = [
        known[int(q)].get(match_key(doc), UNGRADED)
        for q, doc in zip(ratings.query, ratings.doc_ids, strict=True)
    ]
    if all(grade == UNGRADED for grade in found):
        raise InputError(
            "no pair that several people graded has a recorded grade",
            mend="check that both files use the same query and document ids",
        )
    return np.array(found, np.int64)


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Two raters on the units that both graded; a figure is None where it is undefined.

    Attributes:
        one: the first; a reference where there is one.
        two: the other.
        pairs: units that both graded.
        same: share with the same grade, 0..1.
        kappa: Cohen's, unweighted.
        linear_kappa: linear weights.
        quadratic_kappa: quadratic weights.
        floor_kappas: of "grade >= g" for g = 1..K-1.
    """

    one: str
    two: str
    pairs: int
    same: float | None
    kappa: float | None
    linear_kappa: float | None
    quadratic_kappa: float | None
    floor_kappas: tuple[float | None, ...]


def pairwise_agreement(ratings: Ratings) -> tuple[PairAgreement, ...]:
    """Cohen's kappa of every two raters who graded the same units, most units first."""
    found: list[PairAgreement] = []
    for i, j in combinations(range(len(ratings.raters)), 2):
        both = (ratings.grades[:, i] != UNGRADED) & (ratings.grades[:, j] != UNGRADED)
        if both.any():
            found.append(_pair(ratings, i, j, both))
    return tuple(sorted(found, key=lambda figure: -figure.pairs))


def _pair(ratings: Ratings, i: int, j: int, both: NDArray[np.bool_]) -> PairAgreement:
    k = ratings.n_grades
    one, two = ratings.grades[both, i], ratings.grades[both, j]
    table = query_tables(np.zeros(len(one), int), one, two, n_queries=1, n_grades=k)[0]
    plain, linear, quadratic = (kappa(table, weights=w) for w in ("none", "linear", "quadratic"))
    return PairAgreement(
        ratings.raters[i],
        ratings.raters[j],
        len(one),
        defined(accuracy(table)),
        defined(plain),
        defined(linear),
        defined(quadratic),
        tuple(defined(kappa(floor_table(table, floor=g))) for g in range(1, k)),
    )


def defined(value: Floats | float) -> float | None:
    """The number, or None for NaN."""
    number = float(value)
    return None if np.isnan(number) else number


@dataclass(frozen=True, slots=True)
class RaterAgreement:
    """How far several raters agree.

    Attributes:
        figures: by the names of `multirater.rater_figures`, each with its 95 % interval over
            queries.
        errors: {name: standard error}, over queries, or over units where there is one query.
        errors_over: `queries` or `units`.
        units: units with two or more grades; only these tell of agreement.
        queries: queries among them.
        raters: {name: units graded}.
        undefined: why figures are undefined, or None.
    """

    figures: dict[str, Figure]
    errors: dict[str, float | None]
    errors_over: str
    units: int
    queries: int
    raters: dict[str, int]
    undefined: str | None


def rater_agreement(
    ratings: Ratings, *, seed: int = 0, resamples: int = RESAMPLES
) -> RaterAgreement:
    """Every figure of several raters with gaps.

    Args:
        ratings: units with one grade are counted, and bear on the chance part of some figures.
        seed: of the resampling of queries.
        resamples: how many draws.
    """
    shape = RaterShape(ratings.n_grades, len(ratings.raters))
    n_queries = len(ratings.queries)

    def score(sums: Floats) -> dict[str, Floats]:
        return rater_figures(sums, shape)

    def sums_over(group: NDArray[np.int64], n: int) -> Floats:
        return rater_sums(ratings.grades, group, n_queries=n, n_grades=ratings.n_grades)

    by_query = sums_over(ratings.query, n_queries)
    clustered = n_queries >= _LEAST
    parts = by_query if clustered else sums_over(np.arange(len(ratings)), len(ratings))
    pairable = ratings.counts.sum(axis=1) >= _LEAST
    return RaterAgreement(
        figures=intervals_of(by_query, score, seed=seed, resamples=resamples),
        errors={name: defined(value) for name, value in standard_errors(parts, score).items()},
        errors_over="queries" if clustered else "units",
        units=int(pairable.sum()),
        queries=len(np.unique(ratings.query[pairable])),
        raters=dict(
            zip(ratings.raters, (ratings.grades != UNGRADED).sum(axis=0).tolist(), strict=True)
        ),
        undefined=why_undefined(ratings),
    )


def why_undefined(ratings: Ratings) -> str | None:
    """Why agreement cannot be told, one sentence; None when it can."""
    counts = ratings.counts
    if len(ratings.raters) < _LEAST:
        return f"undefined: {len(ratings.raters)} rater, and agreement takes two"
    pairable = counts.sum(axis=1) >= _LEAST
    if not pairable.any():
        return "undefined: no two raters graded the same pair"
    used = np.flatnonzero(counts[pairable].sum(axis=0))
    if len(used) == 1:
        return (
            f"undefined: every grade is {used[0]}; where all is alike nothing shows agreement "
            "beyond chance"
        )
    return None
