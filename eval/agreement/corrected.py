"""A judge's list corrected by people's labels of a part of it: means, rates, gains. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relgate.eval.agreement.confusion import floor_table, query_tables
from relgate.eval.agreement.gains import (
    GainError,
    GradeGain,
    Support,
    expected_gains,
    gain_error,
    support_of,
)
from relgate.eval.agreement.pairs import made_by_people_or_rule, source_counts
from relgate.eval.agreement.powered import LEAST_LABELLED, Powered, Values, powered_mean
from relgate.eval.agreement.rates import Rate, corrected_rate
from relgate.eval.lists.types import JudgmentList, match_key
from relgate.eval.metrics.conventions import Conventions
from relgate.rubrics.errors import InputError, UsageError

__all__ = ["ListCorrection", "correct_list"]

_UNLABELLED = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class ListCorrection:
    """What people's labels make of a judge's list.

    Attributes:
        mean_grade: mean grade of all pairs, by judge, by people, corrected.
        mean_gain: mean gain of all pairs, likewise.
        share_relevant: share at the floor or above, likewise (prediction-powered).
        rate: the same share by Rogan and Gladen, of the unlabelled pairs.
        gains: what people say where the judge says each grade.
        gain_error: the gains' error on queries that they were not fitted to, or None.
        support: grades that the unlabelled pairs have and that hardly a label has.
        labelled: pairs with a label and a grade.
        unlabelled: pairs with a grade alone.
        ungraded: labels that the judge's list has no grade for.
        queries: queries with a labelled pair.
        sources: who made the labels.
        floor: least grade that counts as relevant.
        why: why the means are not corrected, or None.
    """

    mean_grade: Powered | None
    mean_gain: Powered | None
    share_relevant: Powered | None
    rate: Rate
    gains: tuple[GradeGain, ...]
    gain_error: GainError | None
    support: tuple[Support, ...]
    labelled: int
    unlabelled: int
    ungraded: int
    queries: int
    sources: dict[str, int]
    floor: int
    why: str | None


def correct_list(
    human: JudgmentList, grades: JudgmentList, conventions: Conventions, *, seed: int = 0
) -> ListCorrection:
    """Corrects a judge's grades by people's labels of a random part of the pairs.

    Args:
        human: the labels; those that a judge made are left out.
        grades: the judge's grades of labelled and unlabelled pairs.
        conventions: gain and floor.
        seed: of the resampling.

    Raises:
        InputError: lists on different scales, or without a common pair.
        UsageError: a floor off the scale.
    """
    _check_scales(human, grades, conventions)
    top, floor = grades.scale.max_grade, conventions.floor
    labels = made_by_people_or_rule(human)
    people = _labels_of(labels, grades)
    labelled = people != _UNLABELLED
    if not labelled.any():
        raise InputError(
            "no labelled pair has a recorded grade",
            mend="check that both use the same query and document ids",
        )
    judge, query = grades.grade.astype(np.int64), grades.query.astype(np.int64)
    queries = len(np.unique(query[labelled]))
    gain = np.array(conventions.gains(top + 1), float)
    tables = _tables(query[labelled], people[labelled], judge[labelled], n_grades=top + 1)
    enough = queries >= LEAST_LABELLED

    def powered(value: NDArray[np.float64]) -> Powered | None:
        by_people = np.where(labelled, value[np.maximum(people, 0)], np.nan)
        return powered_mean(Values(by_people, value[judge], query)) if enough else None

    relevant = np.arange(top + 1) >= floor
    seen = np.bincount(judge[~labelled], minlength=top + 1)
    return ListCorrection(
        mean_grade=powered(np.arange(top + 1, dtype=np.float64)),
        mean_gain=powered(gain),
        share_relevant=powered(relevant.astype(float)),
        rate=corrected_rate(
            floor_table(tables, floor=floor),
            _sides(query[~labelled], relevant[judge[~labelled]]),
            seed=seed,
        ),
        gains=expected_gains(tables.sum(axis=0), gain.tolist()),
        gain_error=gain_error(tables, gain.tolist(), seed=seed),
        support=support_of(tables.sum(axis=(0, 1)), seen),
        labelled=int(labelled.sum()),
        unlabelled=int((~labelled).sum()),
        ungraded=len(labels) - int(labelled.sum()),
        queries=queries,
        sources=source_counts(labels),
        floor=floor,
        why=None if enough else f"{queries} queries with labels, {LEAST_LABELLED} needed",
    )


def _check_scales(human: JudgmentList, grades: JudgmentList, conventions: Conventions) -> None:
    top, floor = grades.scale.max_grade, conventions.floor
    if human.scale.max_grade != top:
        raise InputError(
            f"the labels are on the scale {human.scale.name}, the grades on {grades.scale.name}",
            mend="bring both onto one scale",
        )
    if not 0 < floor <= top:
        raise UsageError(f"floor {floor} is not a grade above 0 on the scale {grades.scale.name}")


def _labels_of(labels: JudgmentList, grades: JudgmentList) -> NDArray[np.int64]:
    """People's label of each row of `grades`, or -1; queries meet by id."""
    rows = zip(labels.queries, labels.grades_by_query(), strict=True)
    known = {match_key(query.id): own for query, own in rows}
    by_place = [known.get(match_key(query.id), {}) for query in grades.queries]
    return np.array(
        [
            by_place[int(q)].get(match_key(doc), _UNLABELLED)
            for q, doc in zip(grades.query, grades.doc_id, strict=True)
        ],
        np.int64,
    )


def _tables(
    query: NDArray[np.int64],
    people: NDArray[np.int64],
    judge: NDArray[np.int64],
    *,
    n_grades: int,
) -> NDArray[np.int64]:
    used, at = np.unique(query, return_inverse=True)
    return query_tables(at, people, judge, n_queries=len(used), n_grades=n_grades)


def _sides(query: NDArray[np.int64], relevant: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Per query, the judge's counts of not relevant and relevant, (P, 2)."""
    used, at = np.unique(query, return_inverse=True)
    counts: NDArray[np.int64] = np.bincount(2 * at + relevant, minlength=2 * len(used))
    return counts.reshape(len(used), 2)
