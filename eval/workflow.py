"""The main job as functions: gaps, fill, review. Calls judges and reads certificates: I/O.

list -> gaps -> judge -> fill -> score -> rules -> report
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from relgate.eval.catalogue import Catalogue
from relgate.eval.gaps.fill import Filled, Progress, fill_gaps, merge_filled
from relgate.eval.gaps.find import QueryGaps, find_gaps
from relgate.eval.judges import OpenedJudge, certificate_for, check_honesty, judges_in_use
from relgate.eval.lists.build import ListBuilder
from relgate.eval.lists.types import JudgmentList
from relgate.eval.metrics.align import Axis, align
from relgate.eval.metrics.overlap import overlap, require_overlap
from relgate.eval.project import Project
from relgate.eval.queries import QueryTable
from relgate.eval.review.change import ChangeDescription
from relgate.eval.review.evidence import Extras, build_evidence
from relgate.eval.review.types import FillFacts, Review
from relgate.eval.review.verdict import review
from relgate.eval.runs.types import Run
from relgate.judge.sync import run_sync
from relgate.rubrics.errors import InputError, UsageError

__all__ = [
    "Aligned",
    "FilledList",
    "ReviewRequest",
    "Reviewed",
    "align_inputs",
    "fill_runs",
    "ranker_judges",
    "review_runs",
    "system_models",
]


@dataclass(frozen=True, slots=True)
class Aligned:
    """A list and runs on one axis.

    Attributes:
        judgments: the list; empty when none was given.
        runs: the runs.
        axis: their queries.
        table: what a team says of its queries, or None.
        warnings: what should be known of how they meet.
    """

    judgments: JudgmentList
    runs: tuple[Run, ...]
    axis: Axis
    table: QueryTable | None
    warnings: tuple[str, ...] = ()


def align_inputs(
    judgments: JudgmentList | None,
    runs: Sequence[Run],
    project: Project,
    *,
    table: QueryTable | None = None,
) -> Aligned:
    """Puts list and runs on one axis.

    Raises:
        InputError: queries that cannot be matched, or a list that has nothing to do with the runs.
    """
    listed = judgments if judgments is not None else ListBuilder(project.list_scale()).build()
    axis = align(listed, runs, _texts(table))
    said = None if judgments is None else _overlap_warning(judgments, runs, axis, project)
    return Aligned(listed, tuple(runs), axis, table, () if said is None else (said,))


def _overlap_warning(
    judgments: JudgmentList, runs: Sequence[Run], axis: Axis, project: Project
) -> str | None:
    try:
        return require_overlap(overlap(judgments, runs, axis, k=project.k))
    except InputError as error:
        raise InputError(error.what, path=project.judgments, mend=error.mend) from None


def _texts(table: QueryTable | None) -> dict[str, str]:
    rows = () if table is None else table.rows
    return {row.id: row.text for row in rows if row.text is not None}


@dataclass(frozen=True, slots=True)
class FilledList:
    """A list after a fill, and what the fill did.

    Attributes:
        judgments: the list with the judge's grades in it.
        filled: what the judge made of the gaps.
        facts: the same as counts.
        notes: what a reader should know of the judge and of what it saw.
    """

    judgments: JudgmentList
    filled: Filled
    facts: FillFacts
    notes: tuple[str, ...]


def fill_runs(
    aligned: Aligned,
    opened: OpenedJudge,
    catalogue: Catalogue,
    project: Project,
    *,
    moment: datetime,
    on_progress: Progress | None = None,
) -> FilledList:
    """Has a judge grade what nobody rated, within k on each side or in whole runs.

    Raises:
        UsageError: the judge's rubric is of another scale than the list.
    """
    scale = aligned.judgments.scale
    if opened.rubric.max_grade != scale.max_grade:
        raise UsageError(
            f"rubric {opened.rubric.tag} grades 0 to {opened.rubric.max_grade}, and the list is on "
            f"scale {scale.name}; take a rubric of that scale, or state the list's scale"
        )
    depth = project.k if project.fill == "top-k" else None
    gaps = find_gaps(aligned.judgments, aligned.runs, aligned.axis, depth=depth)
    certificate = certificate_for(project, opened.judge.fingerprint)
    begin = time.monotonic()
    filled = run_sync(
        fill_gaps(
            opened.judge,
            gaps,
            catalogue.candidate,
            judged_at=moment.isoformat(timespec="seconds"),
            certificate=None if certificate is None else certificate.certificate_id,
            on_progress=on_progress,
        )
    )
    facts = FillFacts(
        judge=opened.name,
        asked=filled.asked,
        graded=len(filled.judgments),
        cached=opened.hits,
        errors=filled.errors,
        no_text=filled.no_text,
        calls=opened.calls,
        seconds=time.monotonic() - begin,
    )
    merged = merge_filled(aligned.judgments, filled.judgments)
    return FilledList(merged, filled, facts, (*opened.notes, *_bare_queries(gaps)))


def _bare_queries(gaps: Sequence[QueryGaps]) -> tuple[str, ...]:
    bare = sum(not gap.text_known for gap in gaps)
    if not bare:
        return ()
    return (f"{bare} queries have no text in any file, so the judge saw their ids; give --queries",)


def system_models(project: Project, change: ChangeDescription | None) -> tuple[str, ...] | None:
    """The pipeline's models: of the change and of the project together; None when undeclared."""
    said = [
        models
        for models in (project.system_models, change.system_models if change else None)
        if models is not None
    ]
    return tuple(dict.fromkeys(m for models in said for m in models)) if said else None


def ranker_judges(project: Project, change: ChangeDescription | None) -> tuple[str, ...]:
    """Versions of the judges inside the pipeline, of the change and of the project together."""
    return (*project.ranker_judges, *(change.ranker_judges if change else ()))


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A review, and the list that it was made on (with filled grades, if any)."""

    review: Review
    judgments: JudgmentList


@dataclass(frozen=True, slots=True)
class ReviewRequest:
    """What one review is asked to do.

    Attributes:
        project: settings.
        change: the change description, or None.
        opened: the judge that fills gaps, or None for no fill.
        catalogue: product texts, needed for a fill.
        overrides: honesty rules overridden by name.
        moment: the time that certificates must hold at.
        warnings: what the readers had to say.
        seed: of the resampling.
    """

    project: Project
    moment: datetime
    change: ChangeDescription | None = None
    opened: OpenedJudge | None = None
    catalogue: Catalogue | None = None
    overrides: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    seed: int = 0


def review_runs(
    judgments: JudgmentList | None,
    before: Run,
    after: Run,
    request: ReviewRequest,
    *,
    table: QueryTable | None = None,
    on_progress: Progress | None = None,
) -> Reviewed:
    """Reviews a change: fills the gaps when a judge is given, scores both sides, runs the rules.

    Raises:
        HonestyError: before any call, when a judge is of the pipeline's family or made the ranking.
        InputError: the inputs cannot be scored.
        UsageError: a fill without a list or a catalogue.
    """
    project, change = request.project, _with_models(request)
    aligned = align_inputs(judgments, (before, after), project, table=table)
    extras = _extras(aligned, change, request)
    said = _honest(aligned.judgments, request, change)
    listed, extras = _filled(judgments, aligned, request, extras, on_progress)
    uses = (
        ()
        if listed is None
        else judges_in_use(
            listed,
            project,
            now=request.moment,
            filled_by=request.opened.judge if request.opened else None,
        )
    )
    evidence = build_evidence(
        listed,
        before,
        after,
        project.conventions(),
        replace(extras, judges=uses, overrides=said),
    )
    return Reviewed(review(evidence, project.review_settings()), listed or aligned.judgments)


def _with_models(request: ReviewRequest) -> ChangeDescription | None:
    """The change with the project's models in it, so that the rules see one declaration."""
    models = system_models(request.project, request.change)
    if request.change is None:
        return None if models is None else ChangeDescription(system_models=models)
    return replace(request.change, system_models=models)


def _honest(
    judgments: JudgmentList, request: ReviewRequest, change: ChangeDescription | None
) -> tuple[str, ...]:
    """Holds every judge, the filling one and those already in the list, to the honesty rules."""
    models = system_models(request.project, change)
    rankers = ranker_judges(request.project, request.change)
    judges = [
        (use.version, use.model, use.family)
        for use in judges_in_use(judgments, request.project, now=request.moment)
    ]
    if request.opened is not None:
        own = request.opened.judge
        judges.insert(0, (own.version, own.model, own.family))
    said = [
        sentence
        for version, model, family in judges
        for sentence in check_honesty(
            version=version,
            model=model,
            family=family,
            system_models=models,
            ranker_judges=rankers,
            overrides=request.overrides,
        )
    ]
    return tuple(dict.fromkeys(said))


def _filled(
    judgments: JudgmentList | None,
    aligned: Aligned,
    request: ReviewRequest,
    extras: Extras,
    on_progress: Progress | None,
) -> tuple[JudgmentList | None, Extras]:
    if request.opened is None:
        return judgments, extras
    if judgments is None or request.catalogue is None:
        raise UsageError("a fill needs the judgment list and the catalogue")
    before, after = aligned.runs
    first = build_evidence(judgments, before, after, request.project.conventions(), extras)
    done = fill_runs(
        aligned,
        request.opened,
        request.catalogue,
        request.project,
        moment=request.moment,
        on_progress=on_progress,
    )
    return done.judgments, replace(
        extras,
        fill=done.facts,
        at_first=first.coverage.now,
        warnings=(*extras.warnings, *done.notes),
    )


def _extras(aligned: Aligned, change: ChangeDescription | None, request: ReviewRequest) -> Extras:
    rows = () if aligned.table is None else aligned.table.rows
    columns = () if aligned.table is None else aligned.table.columns
    heads = {row.id for row in rows if row.head}
    critical = {row.id for row in rows if row.critical}
    if change is not None:
        heads |= set(change.head_queries)
        critical |= set(change.critical_queries)
    return Extras(
        change=change,
        heads=frozenset(heads),
        critical=frozenset(critical),
        heads_given=bool(heads or critical or {"head", "critical"} & set(columns)),
        texts=_texts(aligned.table),
        weights={row.id: row.weight for row in rows if row.weight is not None},
        warnings=(*request.warnings, *aligned.warnings),
        seed=request.seed,
    )
