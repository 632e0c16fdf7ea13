"""What people's votes come to: preference, chance, agreement, and whether a side had luck. Pure.

A query is the unit: raters of one query are averaged first, so that a query with ten votes weighs
no more than one with two. The tally is no verdict and gates nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, nan

import numpy as np
from numpy.typing import NDArray

from relgate.eval.agreement.multirater import coincidences, krippendorff_alpha, unit_counts
from relgate.eval.agreement.tails import binomial_two_sided
from relgate.eval.metrics.compare import TOLERANCE, bootstrap_interval
from relgate.eval.sidebyside.types import Preference, Vote, latest

__all__ = [
    "Against",
    "QueryTally",
    "RaterTally",
    "Tally",
    "against_metric",
    "sign_test",
    "tally_votes",
]

SIDE_ALARM = 0.01
"""A rater whose left and right votes have a smaller p than this leans to a place."""

_TIES = (Preference.SAME, Preference.NEITHER)
_VALUES = {Preference.BEFORE: -1, Preference.AFTER: 1}
_PAIR = 2


@dataclass(frozen=True, slots=True)
class QueryTally:
    """The votes on one query.

    Attributes:
        query_id: its id.
        query: its text.
        before: raters who prefer the run before.
        after: raters who prefer the run after.
        ties: raters who find both alike, or neither good.
        notes: what they wrote.
    """

    query_id: str
    query: str
    before: int
    after: int
    ties: int
    notes: tuple[str, ...]

    @property
    def preference(self) -> float:
        """-1 (all before) to 1 (all after); 0 is a tie."""
        return (self.after - self.before) / (self.after + self.before + self.ties)


@dataclass(frozen=True, slots=True)
class RaterTally:
    """What one rater said.

    Attributes:
        rater: who.
        before: votes for the run before.
        after: votes for the run after.
        same: both alike.
        neither: neither good.
        skipped: no vote.
        left: votes for the run on the left.
        right: votes for the run on the right.
        side_p: two-sided exact p of left against right; NaN without a preference.
    """

    rater: str
    before: int
    after: int
    same: int
    neither: int
    skipped: int
    left: int
    right: int
    side_p: float

    @property
    def leans(self) -> bool:
        """The place decides more often than chance would have it."""
        return self.side_p < SIDE_ALARM


@dataclass(frozen=True, slots=True)
class Against:
    """People against a metric, over the queries on which both prefer a run.

    Attributes:
        metric: its name with its convention.
        alike: queries on which both prefer the same run.
        apart: queries on which they prefer different ones.
        metric_only: queries on which the metric moved and people see a tie.
        people_only: queries on which people prefer one and the metric did not move.
        unscored: voted queries without a value of the metric on both sides.
    """

    metric: str
    alike: int
    apart: int
    metric_only: int
    people_only: int
    unscored: int


@dataclass(frozen=True, slots=True)
class Tally:
    """All votes.

    Attributes:
        queries: the queries with a vote, the strongest preference for the run before first.
        raters: by name.
        before: queries on which people prefer the run before.
        after: queries on which they prefer the run after.
        ties: queries on which they prefer neither.
        preference: mean over the queries, -1..1; NaN without a vote.
        low: lower end of its 95 % bootstrap interval over queries; NaN below two queries.
        high: upper end.
        p: two-sided exact sign test over the queries that are no tie; NaN without one.
        alpha: Krippendorff's alpha (ordinal: before, tie, after); NaN where no query has two
            votes, or all votes are alike.
        shared: queries with two votes and more.
    """

    queries: tuple[QueryTally, ...]
    raters: tuple[RaterTally, ...]
    before: int
    after: int
    ties: int
    preference: float
    low: float
    high: float
    p: float
    alpha: float
    shared: int


def tally_votes(votes: Sequence[Vote], *, seed: int = 0) -> Tally:
    """Counts votes; of a rater's several on one query the last counts.

    Args:
        votes: as they were given.
        seed: of the bootstrap.
    """
    kept = latest(list(votes))
    counted = [vote for vote in kept if vote.prefers is not Preference.SKIP]
    queries = _queries(counted)
    values = np.array([q.preference for q in queries], np.float64)
    before, after = int((values < 0).sum()), int((values > 0).sum())
    low, high = bootstrap_interval(values, seed=seed)
    grades = _grades(counted)
    return Tally(
        queries=tuple(sorted(queries, key=lambda q: (q.preference, q.query_id))),
        raters=tuple(_rater(name, own) for name, own in sorted(_by_rater(kept).items())),
        before=before,
        after=after,
        ties=len(queries) - before - after,
        preference=float(values.mean()) if len(values) else nan,
        low=low,
        high=high,
        p=sign_test(before, after),
        alpha=_alpha(grades),
        shared=int(((grades >= 0).sum(axis=1) >= _PAIR).sum()),
    )


def sign_test(one: int, other: int) -> float:
    """Two-sided exact p that two counts come of a fair coin; NaN of none.

    Source: Conover, Practical Nonparametric Statistics, 3.4 (ties are left out).
    """
    return binomial_two_sided(one, one + other) if one + other else nan


def against_metric(tally: Tally, metric: str, deltas: Mapping[str, float]) -> Against:
    """Sets the votes beside the change of a metric.

    Args:
        tally: the votes.
        metric: its name.
        deltas: {query id: after - before}; a query that is absent or not finite has no value.
    """
    pairs = [(_sign(q.preference), deltas.get(q.query_id, nan)) for q in tally.queries]
    scored = [(people, _sign(delta)) for people, delta in pairs if isfinite(delta)]
    return Against(
        metric=metric,
        alike=sum(people == moved != 0 for people, moved in scored),
        apart=sum(people == -moved != 0 for people, moved in scored),
        metric_only=sum(people == 0 != moved for people, moved in scored),
        people_only=sum(moved == 0 != people for people, moved in scored),
        unscored=len(pairs) - len(scored),
    )


def _sign(value: float) -> int:
    return 0 if abs(value) <= TOLERANCE else 1 if value > 0 else -1


def _queries(votes: Iterable[Vote]) -> list[QueryTally]:
    groups: dict[str, list[Vote]] = {}
    for vote in votes:
        groups.setdefault(vote.query_id, []).append(vote)
    return [
        QueryTally(
            query_id=query_id,
            query=own[0].query,
            before=sum(v.prefers is Preference.BEFORE for v in own),
            after=sum(v.prefers is Preference.AFTER for v in own),
            ties=sum(v.prefers in _TIES for v in own),
            notes=tuple(v.note for v in own if v.note),
        )
        for query_id, own in groups.items()
    ]


def _by_rater(votes: Iterable[Vote]) -> dict[str, list[Vote]]:
    groups: dict[str, list[Vote]] = {}
    for vote in votes:
        groups.setdefault(vote.rater, []).append(vote)
    return groups


def _rater(name: str, votes: Sequence[Vote]) -> RaterTally:
    count = {p: sum(v.prefers is p for v in votes) for p in Preference}
    sides = [v.prefers.value == v.left.value for v in votes if v.prefers in _VALUES]
    left = sum(sides)
    return RaterTally(
        rater=name,
        before=count[Preference.BEFORE],
        after=count[Preference.AFTER],
        same=count[Preference.SAME],
        neither=count[Preference.NEITHER],
        skipped=count[Preference.SKIP],
        left=left,
        right=len(sides) - left,
        side_p=sign_test(left, len(sides) - left),
    )


def _grades(votes: Sequence[Vote]) -> NDArray[np.int64]:
    """(queries, raters): 0 before, 1 tie, 2 after, -1 no vote."""
    rows = {q: i for i, q in enumerate(dict.fromkeys(v.query_id for v in votes))}
    columns = {r: i for i, r in enumerate(dict.fromkeys(v.rater for v in votes))}
    grades = np.full((len(rows), len(columns)), -1, np.int64)
    for vote in votes:
        grades[rows[vote.query_id], columns[vote.rater]] = 1 + _VALUES.get(vote.prefers, 0)
    return grades


def _alpha(grades: NDArray[np.int64]) -> float:
    if not grades.size:
        return nan
    cells = coincidences(unit_counts(grades, n_grades=3)).sum(axis=0)
    return float(krippendorff_alpha(cells, level="ordinal"))
