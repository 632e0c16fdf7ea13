"""Corrects a review's delta by people's labels; may ask the judge about people's pairs: I/O."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from relgate.eval.catalogue import Catalogue
from relgate.eval.gaps.fill import Filled, fill_gaps, merge_filled
from relgate.eval.gaps.find import QueryGaps, find_gaps
from relgate.eval.inputs import Aligned, query_texts
from relgate.eval.lists.build import ListBuilder
from relgate.eval.lists.types import JudgmentList, Source, match_key
from relgate.eval.metrics.align import align
from relgate.eval.opened_judge import OpenedJudge
from relgate.eval.project import Project
from relgate.eval.review.correction import Labels, correct_delta, only_by, whole_tops
from relgate.eval.review.types import Correction
from relgate.judge.sync import run_sync
from relgate.rubrics.errors import InputError

__all__ = ["correct_review", "correction_gaps", "gaps_beside_fill", "peoples_labels"]


def correct_review(
    aligned: Aligned,
    judgments: JudgmentList,
    project: Project,
    *,
    people: JudgmentList | None,
    opened: OpenedJudge | None,
    ask: Catalogue | None,
    moment: datetime,
    plain: float,
) -> Correction | None:
    """What people's labels make of the judge's mean delta; None where no judge's grade counts.

    Args:
        aligned: the list, before and after.
        judgments: the list as scored, filled grades in it.
        project: conventions.
        people: labels kept aside, or None.
        opened: the judge of the fill, whose grades alone count; None takes every judge's.
        ask: the catalogue to ask it from about people's pairs; None asks nothing.
        moment: the time of such grades.
        plain: the review's own mean delta.

    Raises:
        InputError: labels aside on another scale, or that contradict people's in the list.
    """
    fingerprint = None if opened is None else opened.judge.fingerprint
    judge = only_by(judgments, Source.JUDGE, fingerprint)
    own = peoples_labels(judgments, people)
    asked = 0
    if opened is not None and ask is not None:
        filled = _ask(opened, ask, correction_gaps(aligned, judge, own, project), moment)
        judge, asked = merge_filled(judge, filled.judgments), filled.asked
    if not len(judge):
        return None
    labels = Labels(judge, own, query_texts(aligned.table))
    return correct_delta(labels, aligned.runs, project.conventions(), plain=plain, asked=asked)


def peoples_labels(judgments: JudgmentList, aside: JudgmentList | None) -> JudgmentList:
    """People's grades of the list and of the labels aside, in one list.

    Raises:
        InputError: another scale, or two grades for one pair.
    """
    own = only_by(judgments, Source.HUMAN)
    if aside is None:
        return own
    if aside.scale.max_grade != judgments.scale.max_grade:
        raise InputError(
            f"people's labels are on the scale {aside.scale.name}, the list on "
            f"{judgments.scale.name}",
            mend="bring both onto one scale",
        )
    builder = ListBuilder(judgments.scale, path="--human")
    for labels in (own, only_by(aside, Source.HUMAN)):
        for row in labels.rows():
            builder.add(row.query, row.doc_id, row.grade, row.provenance, text_hash=row.text_hash)
    return builder.build()


def gaps_beside_fill(
    aligned: Aligned, project: Project, *, people: JudgmentList | None, opened: OpenedJudge
) -> list[QueryGaps]:
    """What `correct_review` would ask about beside the fill, for a plan; nothing is asked."""
    judge = only_by(aligned.judgments, Source.JUDGE, opened.judge.fingerprint)
    own = peoples_labels(aligned.judgments, people)
    rows = zip(aligned.judgments.queries, aligned.judgments.grades_by_query(), strict=True)
    rated = {query.id: grades for query, grades in rows}  # the rest is the fill's to ask
    more: list[QueryGaps] = []
    for gap in correction_gaps(aligned, judge, own, project):
        known = rated.get(gap.query.id, {})
        docs = tuple(doc for doc in gap.doc_ids if match_key(doc) in known)
        if docs:
            more.append(replace(gap, doc_ids=docs))
    return more


def correction_gaps(
    aligned: Aligned, judge: JudgmentList, people: JudgmentList, project: Project
) -> list[QueryGaps]:
    """What the judge has not graded in the queries whose top k on both sides people graded.

    Args:
        aligned: the list, before and after.
        judge: the judge's grades alone.
        people: people's grades alone.
        project: depth and conventions.
    """
    texts = query_texts(aligned.table)
    whole = whole_tops(people, aligned.runs, project.conventions(), texts)
    axis = align(judge, aligned.runs, texts)
    places: list[int] = axis.list_index.tolist()
    met = [(judge.queries[at], q) for q, at in zip(axis.queries, places, strict=True) if at >= 0]
    ids = {match_key(own.id): match_key(query.id) for own, query in met}
    gaps = find_gaps(judge, aligned.runs, axis, depth=project.k)
    keys = [match_key(gap.query.id) for gap in gaps]
    return [gap for gap, key in zip(gaps, keys, strict=True) if ids.get(key, key) in whole]


def _ask(
    opened: OpenedJudge, catalogue: Catalogue, gaps: list[QueryGaps], moment: datetime
) -> Filled:
    return run_sync(
        fill_gaps(
            opened.judge,
            gaps,
            catalogue.candidate,
            judged_at=moment.isoformat(timespec="seconds"),
            at_once=opened.queries_at_once,
        )
    )
