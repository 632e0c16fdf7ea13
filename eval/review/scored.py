"""Runs scored on a list, cut to the queries that they have. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from relgate.eval.lists.build import ListBuilder
from relgate.eval.lists.types import SCALES, JudgmentList
from relgate.eval.metrics.align import Axis, align
from relgate.eval.metrics.conventions import Conventions, Metric
from relgate.eval.metrics.score import score_runs
from relgate.eval.metrics.types import RunScores
from relgate.eval.runs.types import Run
from relgate.rubrics.errors import InputError

__all__ = ["Scored", "gate_of", "score_sides"]


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """Both sides on the list.

    Attributes:
        axis: the runs' queries.
        kept: the list, cut to them.
        list_only: judged queries that neither run has.
        scores: before and after.
        gate: the metric that gates; None where the files' own scores are used.
    """

    axis: Axis
    kept: JudgmentList
    list_only: int
    scores: Sequence[RunScores]
    gate: Metric | None


def score_sides(
    judgments: JudgmentList | None,
    runs: Sequence[Run],
    conventions: Conventions,
    texts: Mapping[str, str],
) -> Scored:
    """Scores the runs; the files' own scores stand where there is no list or no documents.

    Raises:
        InputError: no list, and a file without scores of its own; or queries that cannot be
            matched.
    """
    listed = judgments if judgments is not None else ListBuilder(SCALES["0-3"]).build()
    axis, kept, list_only = _of_the_runs(align(listed, runs, texts), listed)
    scores = score_runs(kept, runs, axis, conventions)
    recomputed = judgments is not None and not any(s.unlisted.any() for s in scores)
    if not recomputed:
        _require_given(runs, has_list=judgments is not None)
    return Scored(axis, kept, list_only, scores, gate_of(kept) if recomputed else None)


def _of_the_runs(axis: Axis, judgments: JudgmentList) -> tuple[Axis, JudgmentList, int]:
    """Axis and list without the queries that neither run has, and how many those are."""
    in_runs = np.logical_or.reduce([index >= 0 for index in axis.run_index])
    n = int(in_runs.sum())  # list-only queries come last
    cut = replace(
        axis,
        queries=axis.queries[:n],
        list_index=axis.list_index[:n],
        run_index=tuple(index[:n] for index in axis.run_index),
    )
    return cut, judgments.take(np.isin(judgments.query, cut.list_index)), len(axis) - n


def gate_of(judgments: JudgmentList) -> Metric:
    """NDCG with graded labels, MRR with binary ones."""
    return Metric.NDCG if judgments.scale.max_grade > 1 else Metric.MRR


def _require_given(runs: Sequence[Run], *, has_list: bool) -> None:
    for run in runs:
        if run.given is None:
            mend = (
                "save the runs with their hits"
                if has_list
                else "give the judgment list with --judgments"
            )
            raise InputError("the file holds no scores of its own", path=run.path, mend=mend)
