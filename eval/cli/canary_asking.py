"""What `relgate canary` asks: pairs, plan and limits, one grading. Calls judges: I/O."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import click

from relgate.eval.catalogue import Catalogue
from relgate.eval.cli.common import Output, progress
from relgate.eval.cli.show import plan_lines
from relgate.eval.gaps.find import QueryGaps
from relgate.eval.gaps.plan import FillPlan, plan_document, plan_fill
from relgate.eval.lists.types import JudgmentList, Query
from relgate.eval.opened_judge import OpenedJudge
from relgate.eval.project import Project
from relgate.judge.engine import GO_ON
from relgate.judge.sync import run_sync
from relgate.judge.types import Candidate, GradeError
from relgate.rubrics.errors import InputError, UsageError

__all__ = ["Graded", "Pair", "draw_pairs", "grade_pairs", "say_plan"]

Pair = tuple[str, str, str]
"""Query, document id, text as the judge sees it."""


@dataclass(frozen=True, slots=True)
class Graded:
    """One grading of the pairs.

    Attributes:
        grades: a grade a pair; None without one.
        not_asked: pairs that were left out because the run had stopped.
        why: why it had stopped.
    """

    grades: tuple[int | None, ...]
    not_asked: int = 0
    why: str = ""

    @property
    def stopped(self) -> bool:
        """Whether a limit, or a dead provider, ended it early."""
        return self.not_asked > 0

    @property
    def not_said(self) -> str:
        """What was left out, in words."""
        return f"{self.not_asked} of {len(self.grades)} pairs were not asked: {self.why}"


def draw_pairs(labels: JudgmentList, catalogue: Catalogue, n: int) -> list[Pair]:
    """Pairs by the hash of query and document, as even over the grades as the list allows.

    Raises:
        InputError: no labelled document has a text.
    """
    by_grade: dict[int, list[tuple[str, Pair]]] = {}
    for row in labels.rows():
        candidate = catalogue.candidate(row.doc_id)
        if candidate is not None:
            pair = (row.query.shown, row.doc_id, candidate.text)
            lot = hashlib.sha256("\0".join(pair[:2]).encode("utf-8", "surrogatepass")).hexdigest()
            by_grade.setdefault(row.grade, []).append((lot, pair))
    ranked = sorted(
        (place, lot, pair)
        for group in by_grade.values()
        for place, (lot, pair) in enumerate(sorted(group))
    )
    if not ranked:
        raise InputError(
            "no labelled document has a text in the catalogue",
            path=catalogue.path,
            mend="give that of the index that was labelled, with a title or a text",
        )
    return [pair for _, _, pair in ranked[:n]]


def _by_query(pairs: Sequence[Pair]) -> dict[str, list[int]]:
    """Where each query's pairs stand."""
    places: dict[str, list[int]] = {}
    for at, (query, _, _) in enumerate(pairs):
        places.setdefault(query, []).append(at)
    return places


def grade_pairs(
    output: Output,
    opened: OpenedJudge,
    pairs: Sequence[Pair],
) -> Graded:
    """The judge's grades, asked around the cache, one call a query."""
    judge = opened.uncached or opened.judge  # the cache would answer for the judge
    report = progress(output, "graded", opened.spent)
    out: list[int | None] = [None] * len(pairs)
    left: list[str] = []
    done = 0

    async def ask() -> None:
        nonlocal done
        for query, places in _by_query(pairs).items():
            asked = [Candidate(pairs[at][1], pairs[at][2]) for at in places]
            for at, hit in zip(places, await judge.grade(query, asked), strict=True):
                out[at] = hit.grade if hit.graded else None
                if hit.error is GradeError.NOT_ASKED:
                    left.append(hit.detail or "")
            done += len(places)
            report(done, len(pairs))

    run_sync(ask())
    why = left[0].removeprefix("not asked: ").removesuffix(GO_ON) if left else ""
    return Graded(tuple(out), len(left), why)


def say_plan(
    output: Output,
    project: Project,
    opened: OpenedJudge,
    pairs: Sequence[Pair],
    *,
    gradings: int,
) -> None:
    """What is asked around the cache and what it costs; only a dry run puts it on stdout.

    Raises:
        UsageError: a limit that the plan is sure to pass.
    """
    texts = {doc_id: text for _, doc_id, text in pairs}
    plan = plan_fill(
        [
            QueryGaps(Query(query), doc_ids=tuple(docs), returned=len(docs))
            for query, places in _by_query(pairs).items()
            for docs in ([pairs[at][1] for at in places],)
        ],
        lambda doc_id: Candidate(doc_id, texts[doc_id]),
        llm=opened.llm,
        cached=None,
        price=None if opened.llm is None else project.price(opened.llm.model),
        votes=opened.votes * gradings,
    )
    dry = click.get_current_context().params["dry_run"]
    times = "twice" if gradings > 1 else "once"
    for line in plan_lines(plan, f"to grade {times}, around the cache"):
        (output.line if dry else output.remark)(line)
    too_low = _too_low(project, plan)
    if dry:
        if too_low is not None:
            output.line(too_low)
        output.document({**plan_document(plan), "gradings": gradings, "refused": too_low})
    elif too_low is not None:
        raise UsageError(too_low)


def _too_low(project: Project, plan: FillPlan) -> str | None:
    """A limit that the plan is sure to pass.

    A canary cannot be taken up again, since it is asked around the cache: half of one is lost.
    """
    least = plan.cost_usd[0] if plan.cost_usd else None
    for flag, limit, needs in (
        ("--max-calls", project.max_calls, plan.calls),
        ("--max-cost", project.max_cost, least),
    ):
        if limit is not None and needs is not None and needs > limit:
            return (
                f"{flag} {limit:g} is below the {needs:g} that the canary needs at least, so "
                "nothing is asked; raise it, or freeze fewer --pairs"
            )
    return None
