"""Scores runs against a judgment list. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from relgate.eval.lists.types import JudgmentList, match_key
from relgate.eval.metrics import kernel
from relgate.eval.metrics.align import Axis
from relgate.eval.metrics.conventions import Conventions, Metric
from relgate.eval.metrics.join import Retrieved, join
from relgate.eval.metrics.types import RunScores
from relgate.eval.runs.types import Run
from relgate.rubrics.errors import UsageError

__all__ = ["score_run", "score_runs"]

_FEW = 3  # "lt3": a result list shorter than this

_Bools = NDArray[np.bool_]
_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class _Judged:
    """The judged half of the work, shared by all runs of an axis."""

    judgments: JudgmentList
    listed: _Ints
    hist: _Ints
    judged: _Bools
    ideal: _Floats


def _judged(judgments: JudgmentList, axis: Axis, conventions: Conventions) -> _Judged:
    axis.require_list(judgments)
    if conventions.floor > judgments.scale.max_grade:
        raise UsageError(
            f"no grade of the scale {judgments.scale.name} (0 to {judgments.scale.max_grade}) "
            f"reaches the floor {conventions.floor}; lower the floor, or state the list's scale"
        )
    levels, nq = judgments.scale.max_grade + 1, len(axis)
    row = np.full(len(judgments.queries), -1, np.int64)
    listed = axis.list_index >= 0
    row[axis.list_index[listed]] = np.flatnonzero(listed)
    cells = row[judgments.query] * levels + judgments.grade
    hist = np.bincount(cells, minlength=nq * levels).reshape(nq, levels).astype(np.int64)
    judged = hist.sum(axis=1) > 0
    ideal = kernel.ideal_dcg(hist, conventions.gains(levels), conventions.k)
    return _Judged(
        judgments=judgments,
        listed=axis.list_index,
        hist=hist,
        judged=judged,
        ideal=np.where(judged, ideal, np.nan),
    )


def score_runs(
    judgments: JudgmentList, runs: Sequence[Run], axis: Axis, conventions: Conventions
) -> tuple[RunScores, ...]:
    """Scores every run of an axis; the list is prepared once.

    Args:
        judgments: the list that `axis` was made of.
        runs: the runs that `axis` was made of, in that order; or the first of them.
        axis: from `align`.
        conventions: depth, floor, gain.

    Raises:
        UsageError: the floor lies above the list's scale, or `axis` was made of other queries.
    """
    judged = _judged(judgments, axis, conventions)
    return tuple(_score(judged, run, axis, number, conventions) for number, run in enumerate(runs))


def score_run(
    judgments: JudgmentList, run: Run, axis: Axis, run_number: int, conventions: Conventions
) -> RunScores:
    """Scores one run.

    Args:
        judgments: the list that `axis` was made of.
        run: the run.
        axis: from `align`.
        run_number: which of the axis's runs it is, from 0.
        conventions: depth, floor, gain.

    Raises:
        UsageError: the floor lies above the list's scale, or `axis` was made of other queries.
    """
    judged = _judged(judgments, axis, conventions)
    return _score(judged, run, axis, run_number, conventions)


@dataclass(frozen=True, slots=True, eq=False)
class _Returned:
    """The run's half: what came back for each query, as grades and as counts.

    `top` is what came back within k; `scored` is what the metrics look at: the same, or without
    what nobody rated.
    """

    top: NDArray[np.int16]
    scored: NDArray[np.int16]
    failed: _Bools
    unlisted: _Bools
    answered: _Bools
    returned: _Ints
    unrated: _Ints
    few: _Bools


def _returned(judged: _Judged, run: Run, index: _Ints, conventions: Conventions) -> _Returned:
    k, ranking = conventions.k, run.ranking
    failures = {match_key(query_id) for query_id in run.failures}
    # -1, not in the run, meets the False at the end
    failed = np.zeros(len(index), np.bool_)
    if failures:
        failed = np.array([*(match_key(q.id) in failures for q in run.queries), False])[index]
    counts = np.append(ranking.counts, 0)[index]
    unlisted = (counts < 0) & ~failed
    answered = (index >= 0) & ~failed & ~unlisted
    counts = np.where(answered, counts, 0)
    starts = np.append(ranking.starts, 0)[index]
    retrieved = Retrieved(ranking.ids, starts, counts, ranking.distinct)
    found = join(judged.judgments, judged.listed, retrieved, conventions)
    unrated = _count(found.top == kernel.UNRATED)
    returned = unrated + _count(found.top >= 0)
    few = answered & (returned < _FEW)
    for at in np.flatnonzero(few & (counts > k)).tolist():  # there may be others below k
        few[at] = len(set(map(match_key, run.docs[int(index[at])] or ()))) < _FEW
    for at in np.flatnonzero(unlisted).tolist():
        returned[at], unrated[at] = _given_counts(run, int(index[at]), k)
    return _Returned(found.top, found.scored, failed, unlisted, answered, returned, unrated, few)


def _count(which: _Bools) -> _Ints:
    counts: _Ints = np.count_nonzero(which, axis=1).astype(np.int64)
    return counts


def _given_counts(run: Run, at: int, k: int) -> tuple[int, int]:
    """(returned, unrated) where a file lists no hits: its unrated documents, out of its k."""
    given = None if run.given is None else run.given.queries.get(run.queries[at].id)
    if run.given is None or given is None or given.unrated is None:
        return 0, 0
    depth = run.given.k or k
    return depth, min(len(set(given.unrated)), depth)


def _score(
    judged: _Judged, run: Run, axis: Axis, run_number: int, conventions: Conventions
) -> RunScores:
    axis.require_run(run, run_number)
    index = axis.run_index[run_number]
    found = _returned(judged, run, index, conventions)
    return RunScores(
        name=run.name,
        queries=axis.queries,
        conventions=conventions,
        values=_values(found, judged, conventions),
        ideal=judged.ideal,
        relevant=judged.hist[:, conventions.floor :].sum(axis=1),
        answered=found.answered,
        failed=found.failed,
        missing=index < 0,
        unlisted=found.unlisted,
        returned=found.returned,
        unrated=found.unrated,
        repeats=_count(found.top == kernel.REPEAT),
        few=found.few,
        top=found.scored,
        hist=judged.hist,
    )


def _values(
    found: _Returned, judged: _Judged, conventions: Conventions
) -> Mapping[Metric, _Floats]:
    top, floor = found.scored, conventions.floor
    gains = conventions.gains(judged.hist.shape[1])
    known = {
        Metric.NDCG: kernel.ndcg(kernel.dcg(top, gains), judged.ideal),
        Metric.MRR: kernel.reciprocal_rank(top, floor),
        Metric.PRECISION: _precision(top, floor, conventions),
        Metric.RECALL: kernel.recall(top, judged.hist, floor),
        Metric.HIT: kernel.hit(top, floor),
    }
    unknown = found.unlisted | ~judged.judged
    for values in known.values():
        if conventions.no_ideal == "zero":
            values[np.isnan(values)] = 0.0
        values[unknown] = np.nan
    share = kernel.share(found.returned - found.unrated, found.returned)
    return MappingProxyType({**known, Metric.JUDGED: share})


def _precision(top: NDArray[np.int16], floor: int, conventions: Conventions) -> _Floats:
    """Over k; of the judged alone, over how many those are, and 0 where there are none."""
    if conventions.unrated != "judged-only":
        return kernel.precision(top, floor, conventions.k)
    judged = np.maximum(_count(top >= 0), 1)
    return kernel.share(kernel.relevant_counts(top, floor), judged)
