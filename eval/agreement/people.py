"""Is the judge worse than people? Judge-person agreement beside person-person agreement. Pure.

Both are measured on the same units, those that two or more people and the judge graded, and in the
same way: weighted kappa whose chance part comes from the pooled grades of both (Scott 1955, the
kappa of Fleiss for two). Two people have no first and second, and a judge whose grades are shifted
must not gain by its own marginals. Each unit counts once, however many people graded it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from relgate.eval.agreement.confusion import Floats, kappa
from relgate.eval.agreement.intervals import RESAMPLES, Figure, intervals_of
from relgate.eval.agreement.multirater import (
    coincidences,
    flattened,
    krippendorff_alpha,
    pair_tables,
    sums_by,
)
from relgate.eval.agreement.pairs import UNGRADED, GradedPairs
from relgate.eval.agreement.policy import OVER_PEOPLE
from relgate.eval.agreement.ratings import Ratings, why_undefined
from relgate.eval.lists.raters import Conflict
from relgate.eval.lists.types import match_key
from relgate.rubrics.errors import InputError

__all__ = ["JudgeAmongPeople", "Votes", "judge_among_people", "people_beside", "votes_in"]

Votes = Mapping[tuple[str, str], Mapping[str, int]]
"""{(query id, document id), as `match_key` gives them: {rater: grade}}."""

_LEAST = 2


@dataclass(frozen=True, slots=True)
class JudgeAmongPeople:
    """A judge as one more rater.

    Attributes:
        figures: with 95 % intervals over queries. `people_kappa_quadratic` and
            `judge_kappa_quadratic` (with `people_kappa`, `judge_kappa` unweighted) are the mean
            agreement of two people, and of the judge with one of them; `over_people` is the
            second less the first, quadratic, of the same draws: below 0 the judge is worse.
            `alpha_people` and `alpha_with_judge` are ordinal alphas without and with the judge.
        units: pairs that two or more people and the judge graded.
        queries: queries among them.
        units_of_people: pairs that two or more people graded, with or without the judge.
        undefined: why figures are undefined, or None.
    """

    figures: dict[str, Figure]
    units: int
    queries: int
    units_of_people: int
    undefined: str | None


def judge_among_people(
    people: Ratings, judge: NDArray[np.int64], *, seed: int = 0, resamples: int = RESAMPLES
) -> JudgeAmongPeople:
    """The judge beside people on the same units.

    Args:
        people: the people's grades.
        judge: the judge's grade of each unit, or `UNGRADED`.
        seed: of the resampling of queries.
        resamples: how many draws.

    Raises:
        InputError: another number of grades than of units.
    """
    if len(judge) != len(people):
        raise InputError(f"{len(judge)} grades of the judge for {len(people)} units")
    by_people = people.counts.sum(axis=1) >= _LEAST
    both = by_people & (judge != UNGRADED)
    kept = people.take(both)
    k = people.n_grades
    sums = _sums(kept, judge[both])
    return JudgeAmongPeople(
        figures=intervals_of(sums, lambda s: _figures(s, k), seed=seed, resamples=resamples),
        units=int(both.sum()),
        queries=len(kept.queries),
        units_of_people=int(by_people.sum()),
        undefined=why_undefined(kept) if both.any() else _nothing(int(by_people.sum())),
    )


def _nothing(of_people: int) -> str:
    if not of_people:
        return "undefined: no pair was graded by two people or more"
    return f"undefined: the judge graded none of the {of_people} pairs that two people graded"


def _sums(people: Ratings, judge: NDArray[np.int64]) -> Floats:
    """Per query: pairs of people, pairs of judge and person, coincidences without and with it."""
    k = people.n_grades
    counts = people.counts.astype(float)
    own = np.eye(k)[judge]
    one_way = (counts / counts.sum(axis=1, keepdims=True))[:, :, None] * own[:, None, :]
    flat = flattened(
        pair_tables(counts),
        (one_way + one_way.swapaxes(1, 2)) / 2,
        coincidences(counts),
        coincidences(counts + own),
    )
    return sums_by(people.query, flat, len(people.queries))


def _figures(sums: Floats, k: int) -> dict[str, Floats]:
    parts = np.moveaxis(sums.reshape(*sums.shape[:-1], 4, k, k), -3, 0)
    people, with_judge, without, within = parts
    quadratic = kappa(people, weights="quadratic"), kappa(with_judge, weights="quadratic")
    return {
        "people_kappa": kappa(people),
        "judge_kappa": kappa(with_judge),
        "people_kappa_quadratic": quadratic[0],
        "judge_kappa_quadratic": quadratic[1],
        OVER_PEOPLE: quadratic[1] - quadratic[0],
        "alpha_people": krippendorff_alpha(without, level="ordinal"),
        "alpha_with_judge": krippendorff_alpha(within, level="ordinal"),
    }


def votes_in(votes: Iterable[Conflict]) -> Votes:
    """The grades of raters that a list names, by pair. A grade without a rater is nobody's.

    Args:
        votes: of a list.
    """
    return {
        (match_key(pair.query_id), match_key(pair.doc_id)): {
            vote.rater: vote.grade for vote in pair.votes if vote.rater is not None
        }
        for pair in votes
    }


def people_beside(
    pairs: GradedPairs, votes: Votes, *, n_grades: int, seed: int, resamples: int
) -> JudgeAmongPeople:
    """The judge of a calibration beside the people who graded the same pairs.

    Args:
        pairs: what the judge was asked, failed grades as `UNGRADED`.
        votes: who gave which grade.
        n_grades: size of the scale.
        seed: of the resampling of queries.
        resamples: how many draws.
    """
    names = [match_key(query.id) for query in pairs.queries]
    own = [
        votes.get((names[int(q)], match_key(doc)), {})
        for q, doc in zip(pairs.query, pairs.doc_ids, strict=True)
    ]
    raters = sorted({name for grades in own for name in grades})
    grades = np.array([[one.get(name, UNGRADED) for name in raters] for one in own], np.int64)
    people = Ratings(
        grades.reshape(len(pairs), len(raters)),
        tuple(raters),
        pairs.query,
        tuple(query.id for query in pairs.queries),
        pairs.doc_ids,
        n_grades,
    )
    found = judge_among_people(people, pairs.judge, seed=seed, resamples=resamples)
    if found.undefined is None:
        return found
    why = found.undefined.removeprefix("undefined: ")
    return replace(found, figures={k: replace(f, why=why) for k, f in found.figures.items()})
