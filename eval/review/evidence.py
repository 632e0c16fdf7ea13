"""From a list and two runs to the evidence that the rules look at. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relgate.eval.lists.build import ListBuilder
from relgate.eval.lists.types import SCALES, JudgmentList, match_key
from relgate.eval.metrics.align import Axis, align
from relgate.eval.metrics.compare import (
    bootstrap_interval,
    minimum_detectable_effect,
    sign_flip_p,
)
from relgate.eval.metrics.conventions import Conventions, Metric
from relgate.eval.metrics.crosscheck import crosscheck
from relgate.eval.metrics.score import score_runs
from relgate.eval.metrics.types import RunScores
from relgate.eval.review.aggregates import (
    given_aggregate,
    query_keys,
    recomputed_aggregates,
    traffic_of,
)
from relgate.eval.review.change import ChangeDescription
from relgate.eval.review.sides import SideInput, build_sides, unrated_of
from relgate.eval.review.types import (
    Basis,
    Coverage,
    Evidence,
    FillFacts,
    JudgeUse,
    Noise,
    QueryEvidence,
    Side,
    Unrated,
)
from relgate.eval.runs.types import GivenScores, Run
from relgate.rubrics.errors import InputError

__all__ = ["Extras", "build_evidence"]

_SHOWN_MISMATCHES = 5
_MIN_NOISE_QUERIES = 2


@dataclass(frozen=True, slots=True)
class Extras:
    """What a review knows beside the list and the runs.

    Attributes:
        change: the change description, or None.
        heads: ids or texts of head queries.
        critical: ids or texts of critical queries.
        heads_given: whether anybody said which queries are head or critical.
        texts: {query id: text} for files without texts.
        weights: {query id or text: traffic weight}; empty for none.
        judges: judges whose grades are in the list.
        fill: what a fill did, or None.
        at_first: unrated documents before that fill.
        overrides: honesty rules overridden by name.
        warnings: what the readers had to say.
        seed: of the resampling.
    """

    change: ChangeDescription | None = None
    heads: frozenset[str] = frozenset()
    critical: frozenset[str] = frozenset()
    heads_given: bool = False
    texts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    weights: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    judges: tuple[JudgeUse, ...] = ()
    fill: FillFacts | None = None
    at_first: Unrated | None = None
    overrides: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    seed: int = 0


def build_evidence(
    judgments: JudgmentList | None,
    before: Run,
    after: Run,
    conventions: Conventions,
    extras: Extras | None = None,
) -> Evidence:
    """Scores both sides and gathers what the rules need.

    With a judgment list and listed documents, everything is recomputed and the files' own scores
    are cross-checked. Without either, the files' own scores are used, and the evidence says so.

    Raises:
        InputError: no list, and a file without scores of its own; or queries that cannot be
            matched.
    """
    extras = extras if extras is not None else Extras()
    runs = (before, after)
    listed = judgments if judgments is not None else ListBuilder(SCALES["0-3"]).build()
    axis, kept, list_only = _of_the_runs(align(listed, runs, extras.texts), listed)
    scores = score_runs(kept, runs, axis, conventions)
    recomputed = judgments is not None and not any(s.unlisted.any() for s in scores)
    gate = _gate(kept) if recomputed else None
    if gate is None:
        _require_given(runs, has_list=judgments is not None)
    sides = [
        build_sides(kept, SideInput(run, axis.run_index[i], scores[i]), axis, gate)
        for i, run in enumerate(runs)
    ]
    queries = _mark(_pair(axis, scores[0], sides[0], sides[1], recomputed=recomputed), extras)
    traffic = traffic_of(axis.queries, extras.weights)
    aggregates = (
        (given_aggregate(before, after, queries),)
        if gate is None
        else recomputed_aggregates(scores, gate, traffic)
    )
    covers_all = aggregates[0].n is not None
    return Evidence(
        conventions=conventions,
        basis=Basis.RECOMPUTED if recomputed else Basis.GIVEN,
        aggregates=aggregates,
        queries=queries,
        coverage=_coverage(kept, queries, list_only, extras.at_first),
        change=extras.change,
        settings_before=_stated(before.given),
        settings_after=_stated(after.given),
        cross_checks=_cross_checks(kept, runs, axis, scores) if recomputed else (),
        judges=extras.judges,
        fill=extras.fill,
        overrides=extras.overrides,
        noise=_noise(queries, extras.seed) if covers_all else None,
        covers_all=covers_all,
        has_heads=extras.heads_given,
        heads_missing=_heads_missing(queries, extras),
        warnings=(
            *extras.warnings,
            *(f"{run.name}: {note}" for run in runs for note in run.notes),
            *axis.warnings,
            *_of_weights(traffic, gate, extras),
        ),
    )


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


def _gate(judgments: JudgmentList) -> Metric:
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


def _pair(
    axis: Axis,
    scores: RunScores,
    before: Sequence[Side],
    after: Sequence[Side],
    *,
    recomputed: bool,
) -> list[QueryEvidence]:
    judged, has_ideal = scores.judged.tolist(), scores.has_ideal.tolist()
    return [
        QueryEvidence(
            query=query,
            was=was,
            now=now,
            no_ideal=recomputed and judged[at] and not has_ideal[at],
            unjudged=recomputed and not judged[at],
        )
        for at, (query, was, now) in enumerate(zip(axis.queries, before, after, strict=True))
    ]


def _mark(queries: Sequence[QueryEvidence], extras: Extras) -> tuple[QueryEvidence, ...]:
    heads = {match_key(name) for name in extras.heads}
    critical = {match_key(name) for name in extras.critical}
    return tuple(
        replace(
            q, head=bool(query_keys(q.query) & heads), critical=bool(query_keys(q.query) & critical)
        )
        for q in queries
    )


def _heads_missing(queries: Sequence[QueryEvidence], extras: Extras) -> tuple[str, ...]:
    present = {key for q in queries for key in query_keys(q.query)}
    return tuple(sorted(n for n in extras.heads | extras.critical if match_key(n) not in present))


def _of_weights(
    traffic: NDArray[np.float64], gate: Metric | None, extras: Extras
) -> tuple[str, ...]:
    """What the traffic weights do not cover."""
    if not extras.weights:
        return ()
    if gate is None:
        return ("the scores given in the files cannot be weighted by traffic",)
    bare = int(np.isnan(traffic).sum())
    if not bare:
        return ()
    tail = "no traffic-weighted mean" if bare == len(traffic) else "they weigh 0"
    return (f"{bare} of {len(traffic)} queries have no traffic weight: {tail}",)


def _stated(given: GivenScores | None) -> Mapping[str, Any]:
    if given is None:
        return MappingProxyType({})
    stated = {"metric": given.metric, "k": given.k, "normalized": given.normalized}
    return MappingProxyType({name: value for name, value in stated.items() if value is not None})


def _cross_checks(
    judgments: JudgmentList, runs: Sequence[Run], axis: Axis, scores: Sequence[RunScores]
) -> tuple[str, ...]:
    out: list[str] = []
    for i, run in enumerate(runs):
        if run.given is None:
            continue
        found = crosscheck(judgments, run, axis, i, scores[i])
        if found.not_checked is not None:
            out.append(f"{run.name}: {found.not_checked}")
        if found.compared and not found.mismatches:
            out.append(f"{run.name}: all {found.compared} scores in the file are reproduced")
        for mismatch in found.mismatches[:_SHOWN_MISMATCHES]:
            what = "the aggregate" if mismatch.query is None else f'"{mismatch.query.shown}"'
            out.append(
                f"{run.name}: {what} is {mismatch.given:.4f} in the file and {mismatch.ours:.4f} "
                f"here: {mismatch.explanation}"
            )
        more = len(found.mismatches) - _SHOWN_MISMATCHES
        if more > 0:
            out.append(f"{run.name}: {more} more scores differ")
    return tuple(out)


def _coverage(
    judgments: JudgmentList,
    queries: Sequence[QueryEvidence],
    list_only: int,
    at_first: Unrated | None,
) -> Coverage:
    return Coverage(
        queries=len(queries),
        scored=sum(q.paired for q in queries),
        no_ideal=sum(q.no_ideal for q in queries),
        unjudged=sum(q.unjudged for q in queries),
        list_only=list_only,
        judgments=len(judgments),
        by_source=MappingProxyType(judgments.counts_by_source()),
        now=unrated_of(queries),
        at_first=at_first,
    )


def _noise(queries: Sequence[QueryEvidence], seed: int) -> Noise | None:
    deltas = np.array([q.delta for q in queries if q.paired])
    if len(deltas) < _MIN_NOISE_QUERIES or not np.isfinite(deltas).all():
        return None
    low, high = bootstrap_interval(deltas, seed=seed)
    return Noise(
        p=sign_flip_p(deltas, seed=seed),
        low=low,
        high=high,
        detectable=minimum_detectable_effect(deltas),
        n=len(deltas),
    )
