"""The judge's mean delta, corrected by the queries that people graded too. Pure.

A query counts where the judge graded all of its top k on both sides; it is labelled where people
did so as well. Each is scored twice, by the judge's grades alone and by people's alone, and
`powered_mean` does the rest: f is the judge's delta, Y people's. A mixture of both would not do: f
must be made in the same way on labelled and unlabelled queries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite, sqrt

import numpy as np
from numpy.typing import NDArray

from relgate.eval.agreement.gains import support_of
from relgate.eval.agreement.powered import (
    LEAST_LABELLED,
    Estimate,
    Powered,
    as_values,
    powered_mean,
)
from relgate.eval.lists.types import JudgmentList, Source, match_key
from relgate.eval.metrics.align import align
from relgate.eval.metrics.compare import compare
from relgate.eval.metrics.conventions import Conventions
from relgate.eval.metrics.score import score_runs
from relgate.eval.review.scored import gate_of
from relgate.eval.review.types import Correction, Delta
from relgate.eval.runs.types import Run

__all__ = ["Labels", "correct_delta", "only_by", "whole_tops"]

_UNLIKE = 2.576  # a difference that chance alone makes in 1 of 100 random samples
_SHOWN = 3

_Floats = NDArray[np.float64]


def only_by(
    judgments: JudgmentList, source: Source, fingerprint: str | None = None
) -> JudgmentList:
    """The rows of one source, and of one judge where a fingerprint is named."""
    ours = [o.source is source and fingerprint in (None, o.fingerprint) for o in judgments.origins]
    return judgments.take(np.array(ours, bool)[judgments.origin])


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """Who graded what, apart.

    Attributes:
        judge: the judge's grades alone.
        people: people's grades alone.
        texts: {query id: text}, for files without texts.
    """

    judge: JudgmentList
    people: JudgmentList
    texts: Mapping[str, str]


def whole_tops(
    judgments: JudgmentList, runs: Sequence[Run], conventions: Conventions, texts: Mapping[str, str]
) -> dict[str, float]:
    """{query: delta after - before} of the queries that the list grades within k on both sides.

    A query that failed or is missing on a side, or that has no judgment above grade 0, has none.
    """
    axis = align(judgments, runs, texts)
    before, after = score_runs(judgments, runs, axis, conventions)
    sides = [side.answered & (side.unrated == 0) for side in (before, after)]
    whole = sides[0] & sides[1] & before.has_ideal
    found = compare(before, after, gate_of(judgments))
    return {
        match_key(axis.queries[int(at)].id): float(delta)
        for at, delta in zip(found.index, found.deltas, strict=True)
        if whole[at]
    }


def correct_delta(
    labels: Labels, runs: Sequence[Run], conventions: Conventions, *, plain: float, asked: int = 0
) -> Correction:
    """What people's labels make of the judge's mean delta.

    Args:
        labels: the judge's grades and people's.
        runs: before and after.
        conventions: as the review's.
        plain: the review's own mean delta.
        asked: people's pairs that the judge was asked about for this.
    """
    by_judge = whole_tops(labels.judge, runs, conventions, labels.texts)
    by_people = whole_tops(labels.people, runs, conventions, labels.texts)
    both = [key for key in by_judge if key in by_people]
    facts = Correction(
        metric=conventions.name(gate_of(labels.judge)),
        labelled=len(both),
        unlabelled=len(by_judge) - len(both),
        needed=LEAST_LABELLED,
        asked=asked,
    )
    if len(both) < LEAST_LABELLED:
        return replace(facts, why=_too_few(len(both), len(by_judge), len(by_people), conventions.k))
    people = np.array([by_people.get(key, np.nan) for key in by_judge])
    judge = np.array(list(by_judge.values()))
    found = powered_mean(as_values(people, judge))
    notes = (
        "Valid only if the queries that people graded are a random part of all.",
        *_not_random(people, judge),
        *_other_judges(labels.judge),
        *_unsupported(labels, runs, conventions.k, frozenset(both)),
        *_far_from(plain, found),
    )
    return replace(
        facts,
        judge=_delta(found.judge),
        people=_delta(found.people),
        corrected=_delta(found.corrected),
        weight=found.weight,
        notes=notes,
    )


def _delta(estimate: Estimate) -> Delta:
    return Delta(estimate.point, estimate.low, estimate.high)


def _too_few(both: int, by_judge: int, by_people: int, k: int) -> str:
    """What is lacking, and how to get it."""
    line = f"{both} queries have people's and the judge's grades for all of the top {k} on both "
    line += f"sides, {LEAST_LABELLED} needed"
    if by_people >= LEAST_LABELLED:
        return f"{line}: people graded {by_people}; with --correct the judge grades those too"
    return (
        f"{line} (people graded {by_people}, the judge {by_judge}): have people grade a random "
        "part of the queries (relgate sample), and give their labels with --human"
    )


def _not_random(people: _Floats, judge: _Floats) -> tuple[str, ...]:
    """A note where the judge's deltas of labelled and other queries differ beyond chance."""
    labelled = np.isfinite(people)
    near, far = judge[labelled], judge[~labelled]
    if len(far) < 2:  # noqa: PLR2004 - no spread
        return ()
    error = sqrt(near.var(ddof=1) / len(near) + far.var(ddof=1) / len(far))
    gap = float(near.mean() - far.mean())
    if not error or abs(gap) <= _UNLIKE * error:
        return ()
    note = (
        f"The judge's mean delta is {near.mean():+.4f} on the queries that people graded and "
        f"{far.mean():+.4f} on the rest: they are hardly a random part, and the correction is not "
        "to be relied on."
    )
    return (note,)


def _other_judges(judged: JudgmentList) -> tuple[str, ...]:
    used = {judged.origins[int(i)].fingerprint for i in np.unique(judged.origin)}
    if len(used) < 2:  # noqa: PLR2004 - one judge
        return ()
    return (f"The grades are of {len(used)} judges: the correction is of their mixture.",)


def _unsupported(
    labels: Labels, runs: Sequence[Run], k: int, labelled: frozenset[str]
) -> tuple[str, ...]:
    """A note for each grade that a side gets from the judge and that people hardly checked."""
    n_grades = labels.judge.scale.max_grade + 1
    own, people = (_grades(by, runs, labels.texts) for by in (labels.judge, labels.people))
    checked = np.zeros(n_grades)
    for key in labelled:
        for doc, grade in own.get(key, {}).items():
            checked[grade] += doc in people.get(key, {})
    notes: list[str] = []
    for run in runs:
        seen = np.zeros(n_grades)
        for query, docs in zip(run.queries, run.docs, strict=True):
            known = own.get(match_key(query.id), {})  # the axis keeps the first run's ids
            for doc in {match_key(doc) for doc in (docs or ())[:k]} & known.keys():
                seen[known[doc]] += 1
        notes += [
            f"Grade {s.grade} is {s.share:.0%} of the judge's grades in {run.name} and has "
            f"{s.labels} labels of people: outside what they checked."
            for s in support_of(checked, seen)
        ]
    return tuple(notes[:_SHOWN])


def _grades(
    judgments: JudgmentList, runs: Sequence[Run], texts: Mapping[str, str]
) -> dict[str, dict[str, int]]:
    """{query as the runs call it: {document: grade}}."""
    axis = align(judgments, runs, texts)
    grades = judgments.grades_by_query()
    places: list[int] = axis.list_index.tolist()
    return {
        match_key(query.id): grades[at]
        for query, at in zip(axis.queries, places, strict=True)
        if at >= 0
    }


def _far_from(plain: float, found: Powered) -> tuple[str, ...]:
    low, high = found.corrected.low, found.corrected.high
    if low is None or high is None or not isfinite(plain) or low <= plain <= high:
        return ()
    note = (
        f"The corrected interval does not hold the delta as scored, {plain:+.4f}: the judge's "
        "mistakes move the mean."
    )
    return (note,)
