"""Lists, runs and judges brought together: one axis, gaps found, gaps filled. Calls judges: I/O."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from relgate.eval.catalogue import Catalogue
from relgate.eval.gaps.fill import Filled, Progress, fill_gaps, merge_filled
from relgate.eval.gaps.fill_open import OpenFacts, fill_open
from relgate.eval.gaps.find import QueryGaps, find_gaps
from relgate.eval.gaps.open import OpenGaps
from relgate.eval.inputs import Aligned
from relgate.eval.lists.types import JudgmentList
from relgate.eval.opened_judge import OpenedJudge
from relgate.eval.project import Project
from relgate.eval.query_ids import bare_queries
from relgate.eval.review.types import Evidence, FillFacts
from relgate.eval.rubric_scale import require_scale
from relgate.eval.trust import certificate_for, judge_error_of
from relgate.judge.sync import run_sync

__all__ = [
    "FilledList",
    "fill_runs",
    "fill_runs_open",
    "open_gaps",
    "review_gaps",
    "same_scale",
]


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
    same_scale(aligned, opened)
    gaps = review_gaps(aligned, project)
    begin = time.monotonic()
    filled = run_sync(
        fill_gaps(
            opened.judge,
            gaps,
            catalogue.candidate,
            judged_at=moment.isoformat(timespec="seconds"),
            certificate=_certificate_id(project, opened),
            at_once=opened.queries_at_once,
            on_progress=on_progress,
        )
    )
    return _listed(aligned, opened, filled, gaps, seconds=time.monotonic() - begin)


def fill_runs_open(
    aligned: Aligned,
    opened: OpenedJudge,
    catalogue: Catalogue,
    project: Project,
    *,
    moment: datetime,
    seed: int,
    first: Evidence,
    evidence_of: Callable[[JudgmentList], Evidence],
    on_progress: Progress | None = None,
) -> tuple[FilledList, OpenGaps, OpenFacts]:
    """Has a judge grade, of what nobody rated within k, only what can still change the verdict.

    Args:
        aligned: the list, before and after.
        opened: the judge.
        catalogue: product texts.
        project: settings.
        moment: the time of the grades.
        seed: of the tests against chance.
        first: the evidence on the list as it is.
        evidence_of: a list -> the evidence on it.
        on_progress: told pairs done, of all that a whole fill would ask for.

    Raises:
        UsageError: the judge's rubric is of another scale than the list.
        InputError: the judges' error is asked for, and no certificate tells it.
    """
    same_scale(aligned, opened)
    gaps = review_gaps(aligned, project)
    state = open_gaps(aligned, gaps, opened, catalogue, project, moment=moment, seed=seed)
    begin = time.monotonic()
    filled, facts = run_sync(
        fill_open(
            opened.judge,
            state,
            aligned.judgments,
            catalogue.candidate,
            evidence_of=evidence_of,
            first=first,
            judged_at=moment.isoformat(timespec="seconds"),
            certificate=_certificate_id(project, opened),
            at_once=opened.queries_at_once,
            on_progress=on_progress,
        )
    )
    listed = _listed(aligned, opened, filled, gaps, seconds=time.monotonic() - begin)
    return listed, state, facts


def open_gaps(
    aligned: Aligned,
    gaps: Sequence[QueryGaps],
    opened: OpenedJudge,
    catalogue: Catalogue,
    project: Project,
    *,
    moment: datetime,
    seed: int,
) -> OpenGaps:
    """The review's gaps under their bounds.

    Raises:
        InputError: the judges' error is asked for, and no certificate tells it.
    """
    return OpenGaps(
        aligned.judgments,
        aligned.runs,
        aligned.axis,
        gaps,
        has_text=lambda doc: catalogue.candidate(doc) is not None,
        conventions=project.conventions(),
        settings=project.review_settings(),
        judge_error=judge_error_of(aligned.judgments, project, now=moment, filled_by=opened.judge),
        seed=seed,
    )


def review_gaps(aligned: Aligned, project: Project) -> list[QueryGaps]:
    """What nobody rated, within k or in whole runs as the project has it."""
    depth = None if project.fill == "all" else project.k
    return find_gaps(aligned.judgments, aligned.runs, aligned.axis, depth=depth)


def same_scale(aligned: Aligned, opened: OpenedJudge) -> None:
    """Raises UsageError for a judge whose rubric is of another scale than the list."""
    require_scale(opened.rubric, aligned.judgments.scale)


def _certificate_id(project: Project, opened: OpenedJudge) -> str | None:
    certificate = certificate_for(project, opened.judge.fingerprint)
    return None if certificate is None else certificate.certificate_id


def _listed(
    aligned: Aligned,
    opened: OpenedJudge,
    filled: Filled,
    gaps: Sequence[QueryGaps],
    *,
    seconds: float,
) -> FilledList:
    facts = FillFacts(
        judge=opened.name,
        asked=filled.asked,
        graded=len(filled.judgments),
        cached=opened.hits,
        errors=filled.errors,
        no_text=filled.no_text,
        calls=opened.calls,
        seconds=seconds,
        not_asked=filled.not_asked,
        cost_usd=opened.cost_usd,
        saved_usd=opened.saved_usd,
    )
    merged = merge_filled(aligned.judgments, filled.judgments)
    notes = (*opened.notes, *opened.remarks, *bare_queries(g.query for g in gaps))
    return FilledList(merged, filled, facts, notes)
