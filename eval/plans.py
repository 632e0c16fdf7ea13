"""What a fill would ask for, before anything is spent. Reads certificates: I/O."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from relgate.eval.bounds.rules import verdict_range
from relgate.eval.catalogue import Catalogue
from relgate.eval.filling import open_gaps, review_gaps, same_scale
from relgate.eval.gaps.find import QueryGaps
from relgate.eval.gaps.plan import FillPlan, OpenPlan, plan_fill
from relgate.eval.inputs import Aligned
from relgate.eval.opened_judge import OpenedJudge
from relgate.eval.project import Project
from relgate.eval.review.types import Evidence

__all__ = ["plan_gaps", "plan_runs", "plan_runs_open"]


def plan_runs(
    aligned: Aligned,
    opened: OpenedJudge,
    catalogue: Catalogue,
    project: Project,
    *,
    more: Sequence[QueryGaps] = (),
) -> FillPlan:
    """What `fill_runs` would ask for, and `fill_runs_open` at most; nothing is asked.

    Args:
        aligned: the list and the runs.
        opened: the judge.
        catalogue: product texts.
        project: settings.
        more: pairs to be asked about besides.
    """
    return plan_gaps([*review_gaps(aligned, project), *more], opened, catalogue)


def plan_runs_open(
    aligned: Aligned,
    opened: OpenedJudge,
    catalogue: Catalogue,
    project: Project,
    *,
    moment: datetime,
    seed: int,
    first: Evidence,
    more: Sequence[QueryGaps] = (),
) -> OpenPlan:
    """What `fill_runs_open` would ask for first, and at most; nothing is asked.

    Args:
        aligned: as for `fill_runs_open`, like the rest.
        opened: the judge.
        catalogue: product texts.
        project: settings.
        moment: when certificates must hold.
        seed: of the tests against chance.
        first: the evidence on the list as it is.
        more: pairs to be asked about besides, at the end.
    """
    same_scale(aligned, opened)
    gaps = review_gaps(aligned, project)
    state = open_gaps(aligned, gaps, opened, catalogue, project, moment=moment, seed=seed)
    ranges = state.standings(first)
    least, most = verdict_range(ranges)
    asks = bool(state.left) and least is not most
    wave = state.next_wave(first, ranges) if asks else []
    return OpenPlan(
        most=plan_gaps([*gaps, *more], opened, catalogue),
        first=plan_gaps(wave, opened, catalogue) if asks else None,
        verdict=least.word if least is most else None,
    )


def plan_gaps(gaps: Sequence[QueryGaps], opened: OpenedJudge, catalogue: Catalogue) -> FillPlan:
    """What grading these pairs would ask for and cost; nothing is asked."""
    return plan_fill(
        gaps,
        catalogue.candidate,
        llm=opened.llm,
        cached=opened.cached,
        price=None if opened.llm is None else opened.llm.engine.policy.price,
        votes=opened.votes,
    )
