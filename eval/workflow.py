"""The main job as one function, the review. Calls judges and reads certificates: I/O.

list -> gaps -> judge -> fill -> score -> rules -> report
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isfinite

from relgate.eval.catalogue import Catalogue
from relgate.eval.correcting import correct_review, gaps_beside_fill
from relgate.eval.filling import FilledList, fill_runs, fill_runs_open
from relgate.eval.gaps.expected import expected_scores
from relgate.eval.gaps.fill import Progress
from relgate.eval.gaps.fill_open import OpenFacts
from relgate.eval.gaps.plan import FillPlan, OpenPlan
from relgate.eval.gaps.told import open_fill_lines, with_open_facts
from relgate.eval.inputs import Aligned, align_inputs, query_texts
from relgate.eval.lists.types import JudgmentList, Query
from relgate.eval.metrics.align import align
from relgate.eval.opened_judge import OpenedJudge
from relgate.eval.plans import plan_runs, plan_runs_open
from relgate.eval.queries import QueryTable
from relgate.eval.review.apart import split_sets
from relgate.eval.review.evidence import Extras, build_evidence
from relgate.eval.review.types import Basis, Evidence, ExpectedScores, Review
from relgate.eval.review.verdict import review
from relgate.eval.review_request import ReviewRequest, extras_of, held_honest, with_models
from relgate.eval.runs.types import Run
from relgate.eval.trust import judges_in_use
from relgate.rubrics.errors import UsageError

__all__ = ["Reviewed", "plan_review", "review_runs"]


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A review, and the list that it was made on (with filled grades, if any).

    Attributes:
        review: the review.
        judgments: the list.
        open_fill: what a verdict-driven fill did; None for any other.
    """

    review: Review
    judgments: JudgmentList
    open_fill: OpenFacts | None = None


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
        UsageError: a fill without a list or a catalogue, or a judge error asked of a fill that
            has no bounds.
    """
    case = _case_of(judgments, (before, after), request, table, on_progress)
    if request.opened is None:
        evidence = case.corrected(case.evidence(judgments), judgments)
        done = review(evidence, request.project.review_settings())
        return Reviewed(done, judgments or case.aligned.judgments)
    opened, catalogue, first = _fillable(case, judgments)
    fill = _review_open if request.project.fill == "open" else _review_filled
    return fill(case, opened, catalogue, first)


def plan_review(
    judgments: JudgmentList | None,
    before: Run,
    after: Run,
    request: ReviewRequest,
    *,
    table: QueryTable | None = None,
) -> FillPlan | OpenPlan:
    """What the fill of `review_runs` would ask for; nothing is asked.

    Raises:
        HonestyError: as `review_runs`, like the others.
        InputError: the inputs cannot be scored.
        UsageError: no judge, or a fill that cannot be.
    """
    case = _case_of(judgments, (before, after), request, table)
    opened, catalogue, first = _fillable(case, judgments)
    aligned, project = case.aligned, request.project
    more = (
        gaps_beside_fill(aligned, project, people=request.people, opened=opened)
        if request.correct
        else ()
    )
    if project.fill != "open":
        return plan_runs(aligned, opened, catalogue, project, more=more)
    return plan_runs_open(
        aligned,
        opened,
        catalogue,
        project,
        moment=request.moment,
        seed=request.seed,
        first=first,
        more=more,
    )


def _case_of(
    judgments: JudgmentList | None,
    runs: tuple[Run, Run],
    request: ReviewRequest,
    table: QueryTable | None,
    on_progress: Progress | None = None,
) -> _Case:
    change = with_models(request)
    before, after, apart = split_sets(*runs, _sets(table))
    aligned = align_inputs(judgments, (before, after), request.project, table=table)
    extras = extras_of(aligned, change, request)
    said = held_honest(aligned.judgments, request, change)
    return _Case(aligned, request, replace(extras, overrides=said, apart=apart), on_progress)


def _fillable(
    case: _Case, judgments: JudgmentList | None
) -> tuple[OpenedJudge, Catalogue, Evidence]:
    """The judge, the texts, and the evidence before a fill. Raises UsageError without them."""
    request, project = case.request, case.request.project
    if judgments is None or request.catalogue is None or request.opened is None:
        raise UsageError("a fill needs a judge, the judgment list and the catalogue")
    if project.judge_error is not None and project.fill != "open":
        raise UsageError(
            f"judge error widens the bounds of an open fill, and fill is {project.fill}"
        )
    first = case.evidence(judgments)
    if first.basis is Basis.GIVEN:
        raise UsageError(
            "a fill would change no figure: some queries come without their hits, so "
            "the scores are taken as given; save the responses with their hits"
        )
    return request.opened, request.catalogue, first


def _sets(table: QueryTable | None) -> Callable[[Query], str | None]:
    """Which set the table puts a query in."""

    def set_of(query: Query) -> str | None:
        row = None if table is None else table.by_key(query.id) or table.by_key(query.shown)
        return None if row is None else row.set

    return set_of


@dataclass(frozen=True, slots=True)
class _Case:
    """One review on its way: what stays the same while grades come in."""

    aligned: Aligned
    request: ReviewRequest
    extras: Extras
    on_progress: Progress | None

    def evidence(self, judgments: JudgmentList | None, extras: Extras | None = None) -> Evidence:
        """Both sides on this list."""
        request, extras = self.request, extras if extras is not None else self.extras
        judge = request.opened.judge if request.opened else None
        uses = (
            ()
            if judgments is None
            else judges_in_use(judgments, request.project, now=request.moment, filled_by=judge)
        )
        before, after = self.aligned.runs
        conventions = request.project.conventions()
        return build_evidence(judgments, before, after, conventions, replace(extras, judges=uses))

    def after_fill(self, done: FilledList, first: Evidence, *notes: str) -> Evidence:
        """Both sides on the filled list, with what the fill did."""
        extras = replace(
            self.extras,
            fill=done.facts,
            at_first=first.coverage.now,
            unfilled=first.main if isfinite(first.main.delta) else None,
            expected=self._expected(done),
            warnings=(*self.extras.warnings, *done.notes, *notes),
        )
        scored = self.evidence(done.judgments, extras)
        # The engine had only the list as given: its scores are held to that one.
        scored = replace(scored, cross_checks=first.cross_checks)
        return self.corrected(scored, done.judgments)

    def corrected(self, evidence: Evidence, judgments: JudgmentList | None) -> Evidence:
        """The evidence with what people's labels make of the judge's delta, where it has any."""
        if judgments is None or evidence.basis is not Basis.RECOMPUTED:
            return evidence
        request = self.request
        correction = correct_review(
            self.aligned,
            judgments,
            request.project,
            people=request.people,
            opened=request.opened,
            ask=request.catalogue if request.correct else None,
            moment=request.moment,
            plain=evidence.main.delta,
        )
        return replace(evidence, correction=correction)

    def _expected(self, done: FilledList) -> ExpectedScores | None:
        """The mean under the class probabilities of the judge that filled."""
        if not done.filled.probabilities:
            return None
        return expected_scores(
            done.judgments,
            self.aligned.runs,
            align(done.judgments, self.aligned.runs, query_texts(self.aligned.table)),
            done.filled.probabilities,
            self.request.project.conventions(),
            filled=len(done.filled.judgments),
            seed=self.request.seed,
        )


def _review_filled(
    case: _Case, opened: OpenedJudge, catalogue: Catalogue, first: Evidence
) -> Reviewed:
    """Fills all gaps, then reviews."""
    project = case.request.project
    done = fill_runs(
        case.aligned,
        opened,
        catalogue,
        project,
        moment=case.request.moment,
        on_progress=case.on_progress,
    )
    evidence = case.after_fill(done, first)
    return Reviewed(review(evidence, project.review_settings()), done.judgments)


def _review_open(
    case: _Case, opened: OpenedJudge, catalogue: Catalogue, first: Evidence
) -> Reviewed:
    """Fills only what can still change the verdict, and says what is left and why that is safe."""
    project = case.request.project
    done, gaps, facts = fill_runs_open(
        case.aligned,
        opened,
        catalogue,
        project,
        moment=case.request.moment,
        seed=case.request.seed,
        first=first,
        evidence_of=case.evidence,
        on_progress=case.on_progress,
    )
    evidence = case.after_fill(done, first, *open_fill_lines(facts))
    # Once the verdict is settled, R8 and R19 need not wait for grades that cannot change it.
    seen = gaps.as_if_filled(evidence) if facts.settled else evidence
    found = review(seen, project.review_settings())
    told = with_open_facts(replace(found, evidence=evidence), facts)
    return Reviewed(told, done.judgments, facts)
