"""A refresh from end to end, without files: look, plan, grade anew, apply. Calls judges: I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType

from relgate.eval.catalogue import Catalogue
from relgate.eval.gaps.fill import Filled, Progress, fill_gaps
from relgate.eval.gaps.find import QueryGaps
from relgate.eval.gaps.plan import FillPlan, plan_fill
from relgate.eval.lists.types import JudgmentList
from relgate.eval.opened_judge import OpenedJudge
from relgate.eval.project import Project
from relgate.eval.query_ids import bare_queries
from relgate.eval.refresh.apply import Refreshed, apply_grades, stale_gaps
from relgate.eval.refresh.stale import Present, Staleness, State, find_stale, oldest_time
from relgate.eval.rubric_scale import require_scale
from relgate.eval.trust import certificate_for
from relgate.judge.sync import run_sync
from relgate.rubrics.errors import InputError

__all__ = ["Look", "Regraded", "look", "plan_refresh", "refresh_list", "shown_text"]


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """A list that was looked at, before anything is asked.

    Attributes:
        judgments: the list.
        staleness: what is stale in it.
        gaps: what a judge has to grade anew.
        opened: that judge; None for a list in which no judge graded.
        moment: the time of the look.
        max_age_days: what counted as too old, or None.
        texts: {query id: text} for a list that gives ids alone.
    """

    judgments: JudgmentList
    staleness: Staleness
    gaps: tuple[QueryGaps, ...]
    opened: OpenedJudge | None
    moment: datetime
    max_age_days: float | None = None
    texts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True, eq=False)
class Regraded:
    """A refreshed list, and what the judge did for it.

    Attributes:
        refreshed: the new list and what became of each stale judgment.
        filled: what came back from the judge.
        cached: grades that the cache had.
        calls: calls made; None for a judge that makes none.
        cost_usd: US dollars by the price table; None where no price is known.
        saved_usd: what the cached grades had cost, as far as they record it; else None.
        notes: what a reader should know.
    """

    refreshed: Refreshed
    filled: Filled
    cached: int = 0
    calls: int | None = None
    cost_usd: float | None = None
    saved_usd: float | None = None
    notes: tuple[str, ...] = ()


def shown_text(catalogue: Catalogue, doc_id: str) -> str | None:
    """A document's text as a judge sees it; empty when nothing can be shown, None when gone."""
    candidate = catalogue.candidate(doc_id)
    if candidate is not None:
        return candidate.text
    return None if catalogue.product(doc_id) is None else ""


def look(
    judgments: JudgmentList,
    catalogue: Catalogue,
    opened: OpenedJudge | None,
    *,
    moment: datetime,
    max_age_days: float | None = None,
    texts: Mapping[str, str] | None = None,
) -> Look:
    """Finds what is stale. Calls nothing.

    Args:
        judgments: the list.
        catalogue: the documents as they are now.
        opened: the judge that would grade anew.
        moment: now.
        max_age_days: older judgments are stale, and older grades in the cache do not count.
        texts: {query id: text} for a list that gives ids alone.

    Raises:
        UsageError: the judge's rubric is of another scale than the list, or as `oldest_time`.
        InputError: the catalogue has no document of the list: it is another shop's.
    """
    if opened is not None:
        opened = _checked(opened, judgments, moment, max_age_days)
    staleness = find_stale(
        judgments,
        lambda doc_id: shown_text(catalogue, doc_id),
        present=None if opened is None else Present(opened.judge.version, opened.judge.fingerprint),
        now=moment,
        max_age_days=max_age_days,
    )
    if len(judgments) and staleness.count(State.GONE) == len(judgments):
        raise InputError(
            "no document of the list is in the catalogue",
            path=catalogue.path,
            mend="give the catalogue of the index that was labelled",
        )
    gaps = () if opened is None else tuple(stale_gaps(judgments, staleness, texts or {}))
    return Look(judgments, staleness, gaps, opened, moment, max_age_days, texts or {})


def _checked(
    opened: OpenedJudge, judgments: JudgmentList, moment: datetime, max_age_days: float | None
) -> OpenedJudge:
    require_scale(opened.rubric, judgments.scale)
    if opened.cached is not None:  # a judgment stale by age alone has the key that it always had
        times = (opened.cached.since, oldest_time(moment, max_age_days))
        opened.cached.since = max((t for t in times if t is not None), default=None)
    return opened


def plan_refresh(looked: Look, catalogue: Catalogue, project: Project) -> FillPlan:
    """What `refresh_list` would ask for; nothing is asked."""
    opened = looked.opened
    llm = None if opened is None else opened.llm
    return plan_fill(
        looked.gaps,
        catalogue.candidate,
        llm=llm,
        cached=None if opened is None else opened.cached,
        price=None if llm is None else project.price(llm.model),
        votes=1 if opened is None else opened.votes,
    )


def refresh_list(
    looked: Look, catalogue: Catalogue, project: Project, *, on_progress: Progress | None = None
) -> Regraded:
    """Has the judge grade anew what it has to, and makes the new list.

    A failed grade leaves the old judgment in the list, counted as still stale.
    """
    opened = looked.opened
    if opened is None or not looked.gaps:
        refreshed = apply_grades(looked.judgments, looked.staleness, ())
        calls = None if opened is None else opened.calls
        return Regraded(refreshed, Filled((), asked=0), calls=calls)
    certificate = certificate_for(project, opened.judge.fingerprint)
    filled = run_sync(
        fill_gaps(
            opened.judge,
            looked.gaps,
            catalogue.candidate,
            judged_at=looked.moment.isoformat(timespec="seconds"),
            certificate=None if certificate is None else certificate.certificate_id,
            at_once=opened.queries_at_once,
            on_progress=on_progress,
        )
    )
    return Regraded(
        refreshed=apply_grades(looked.judgments, looked.staleness, filled.judgments),
        filled=filled,
        cached=opened.hits,
        calls=opened.calls,
        cost_usd=opened.cost_usd,
        saved_usd=opened.saved_usd,
        notes=(*opened.notes, *opened.remarks, *bare_queries(g.query for g in looked.gaps)),
    )
