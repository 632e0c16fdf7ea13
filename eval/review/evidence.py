"""From a list and two runs to the evidence that the rules look at. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relgate.eval.lists.types import JudgmentList, Source
from relgate.eval.metrics.align import Axis
from relgate.eval.metrics.conventions import Conventions, Metric
from relgate.eval.metrics.types import RunScores
from relgate.eval.review.aggregates import (
    given_aggregate,
    recomputed_aggregates,
    traffic_of,
)
from relgate.eval.review.apart import apart_of, apart_warnings
from relgate.eval.review.chance import noise_of, strata_of
from relgate.eval.review.change import ChangeDescription
from relgate.eval.review.contradictions import contradictions, rated_otherwise, unlike_ratings
from relgate.eval.review.crosschecks import cross_checks
from relgate.eval.review.debug import DebugTools
from relgate.eval.review.filters import CheckedCase, check_cases
from relgate.eval.review.marks import marked, names_missing
from relgate.eval.review.modes import mode_warnings, modes_of
from relgate.eval.review.scored import Scored, score_sides
from relgate.eval.review.settings import ReviewSettings
from relgate.eval.review.sides import SideInput, build_sides, unrated_of
from relgate.eval.review.supplied import SetRuns
from relgate.eval.review.types import (
    Aggregate,
    Basis,
    Coverage,
    Evidence,
    ExpectedScores,
    FillFacts,
    JudgeUse,
    QueryEvidence,
    Side,
    Unrated,
)
from relgate.eval.runs.types import GivenScores, Run
from relgate.eval.wording import counted

__all__ = ["Extras", "build_evidence"]

_SHOWN_UNLIKE = 3


@dataclass(frozen=True, slots=True)
class Extras:
    """What a review knows beside the list and the runs.

    Attributes:
        change: the change description, or None.
        heads: ids or texts of head queries.
        critical: ids or texts of critical queries.
        heads_given: whether anybody said which queries are head or critical.
        expect_empty: ids or texts of queries that are meant to find nothing.
        strata: {query id or text: the strata it is in}; empty for none.
        texts: {query id: text} for files without texts.
        weights: {query id or text: traffic weight}; empty for none.
        judges: judges whose grades are in the list.
        fill: what a fill did, or None.
        at_first: unrated documents before that fill.
        mostly_unrated: R8's share, above which a query counts as mostly unrated.
        overrides: honesty rules overridden by name.
        warnings: what the readers had to say.
        seed: of the resampling.
        unfilled: the gating aggregate before that fill.
        expected: the gating aggregate under the judge's class probabilities, or None.
        titles: {document id: title}; empty without a catalogue.
        tools: where a report points to for one query.
        inputs: {what: where from and its hash}, for the record.
        apart: runs of the queries that never gate, by their set.
    """

    change: ChangeDescription | None = None
    heads: frozenset[str] = frozenset()
    critical: frozenset[str] = frozenset()
    heads_given: bool = False
    expect_empty: frozenset[str] = frozenset()
    strata: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    texts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    weights: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    judges: tuple[JudgeUse, ...] = ()
    fill: FillFacts | None = None
    at_first: Unrated | None = None
    mostly_unrated: float = ReviewSettings().mostly_unrated
    overrides: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    seed: int = 0
    unfilled: Aggregate | None = None
    expected: ExpectedScores | None = None
    titles: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    tools: DebugTools = field(default_factory=DebugTools)
    inputs: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    apart: tuple[SetRuns, ...] = ()


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
    scored = score_sides(judgments, runs, conventions, extras.texts)
    axis, kept, gate = scored.axis, scored.kept, scored.gate
    queries = _queries(scored, runs, extras)
    traffic = traffic_of(axis.queries, extras.weights)
    aggregates = (
        (given_aggregate(before, after, queries),)
        if gate is None
        else recomputed_aggregates(scored.scores, gate, traffic)
    )
    covers_all = aggregates[0].n is not None
    unlike = unlike_ratings(before, after)
    modes = modes_of(judgments, extras.change, queries, conventions, extras.texts)
    apart = apart_of(judgments, extras.apart, conventions, extras.texts)
    said = [
        *_warnings(scored, runs, traffic, unlike, extras),
        *mode_warnings(extras.change, modes),
        *apart_warnings(apart),
    ]
    return Evidence(
        conventions=conventions,
        basis=Basis.GIVEN if gate is None else Basis.RECOMPUTED,
        aggregates=aggregates,
        queries=queries,
        coverage=_coverage(scored, queries, extras),
        settings_before=_stated(before.given),
        settings_after=_stated(after.given),
        cross_checks=() if gate is None else cross_checks(kept, runs, axis, scored.scores),
        judges=_that_count(extras.judges, kept),
        noise=noise_of(queries, extras.seed) if covers_all else None,
        covers_all=covers_all,
        has_heads=extras.heads_given,
        heads_missing=names_missing(queries, extras.heads | extras.critical),
        filter_cases=_filter_cases(extras.change, judgments),
        modes=modes,
        apart=apart,
        strata=strata_of(queries, extras.seed),
        contradictions=(*contradictions(before), *contradictions(after)),
        unlike_ratings=unlike,
        warnings=tuple(said),
        **_as_given(extras),
    )


def _queries(scored: Scored, runs: Sequence[Run], extras: Extras) -> tuple[QueryEvidence, ...]:
    before, after = (
        build_sides(
            scored.kept,
            SideInput(run, scored.axis.run_index[i], scored.scores[i]),
            scored.axis,
            scored.gate,
        )
        for i, run in enumerate(runs)
    )
    return marked(
        _pair(scored.axis, scored.scores[0], before, after, recomputed=scored.gate is not None),
        heads=extras.heads,
        critical=extras.critical,
        empty=extras.expect_empty,
        strata=extras.strata,
    )


def _as_given(extras: Extras) -> dict[str, Any]:
    """What the evidence takes over as it is."""
    names = ("change", "fill", "overrides", "unfilled", "expected", "titles", "tools", "inputs")
    return {name: getattr(extras, name) for name in names}


def _warnings(
    scored: Scored,
    runs: Sequence[Run],
    traffic: NDArray[np.float64],
    unlike: Sequence[str],
    extras: Extras,
) -> tuple[str, ...]:
    return (
        *extras.warnings,
        *(f"{run.name}: {note}" for run in runs for note in run.notes),
        *scored.axis.warnings,
        *_of_weights(traffic, scored.gate, extras),
        *(f"the files' own ratings differ: {said}" for said in unlike[:_SHOWN_UNLIKE]),
        *_of_repeats(scored),
        *_of_ratings(scored, runs),
    )


def _of_repeats(scored: Scored) -> Iterator[str]:
    if scored.gate is None:
        return
    for side in scored.scores:
        if n := int(side.repeats.sum()):
            what = counted(n, "repeated document counts", "repeated documents count")
            yield f"{side.name}: {what} once, at the first rank"


def _of_ratings(scored: Scored, runs: Sequence[Run]) -> Iterator[str]:
    """What the list says otherwise than the ratings that the engine was sent."""
    if scored.gate is None or all(run.given is None for run in runs):
        return
    grades = scored.kept.grades_by_query()
    for i, run in enumerate(runs):
        listed: list[Mapping[str, int]] = [{} for _ in run.queries]
        for at, in_list in zip(scored.axis.run_index[i], scored.axis.list_index, strict=True):
            if at >= 0 and in_list >= 0:
                listed[at] = grades[in_list]
        if (said := rated_otherwise(run, listed, scored.kept.scale.max_grade)) is not None:
            yield said


def _that_count(judges: Sequence[JudgeUse], judgments: JudgmentList) -> tuple[JudgeUse, ...]:
    """The judges with the grades of theirs that the scores rest on; those without one left out."""
    rows: dict[tuple[str | None, str | None, str | None], int] = {}
    for origin, n in zip(judgments.origins, judgments.counts_by_origin(), strict=True):
        if origin.source is Source.JUDGE:
            key = (origin.judge_version, origin.fingerprint, origin.model)
            rows[key] = rows.get(key, 0) + n
    found = (replace(j, rows=rows.get((j.version, j.fingerprint, j.model), 0)) for j in judges)
    return tuple(judge for judge in found if judge.rows)


def _filter_cases(
    change: ChangeDescription | None, judgments: JudgmentList | None
) -> tuple[CheckedCase, ...]:
    filters = None if change is None else change.filters
    return check_cases((filters.cases if filters else None) or (), judgments)


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
    stated = {
        "metric": given.metric, "k": given.k, "normalized": given.normalized, **given.stated,
    }  # fmt: skip
    return MappingProxyType({name: value for name, value in stated.items() if value is not None})


def _coverage(scored: Scored, queries: Sequence[QueryEvidence], extras: Extras) -> Coverage:
    return Coverage(
        queries=len(queries),
        scored=sum(q.paired for q in queries),
        no_ideal=sum(q.no_ideal for q in queries),
        unjudged=sum(q.unjudged for q in queries),
        list_only=scored.list_only,
        judgments=len(scored.kept),
        by_source=MappingProxyType(scored.kept.counts_by_source()),
        now=unrated_of(queries, extras.mostly_unrated),
        at_first=extras.at_first,
    )
