"""Brings labels, judges and recorded grades together for a calibration. Reads files, asks: I/O."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from relgate.eval.agreement.asking import Progress, agrade_pairs
from relgate.eval.agreement.comparing import Costs, Entry
from relgate.eval.agreement.groups import Group, GroupsOf
from relgate.eval.agreement.pairs import (
    identity_of,
    match_grades,
    recorded_judge,
)
from relgate.eval.agreement.split import Hygiene, kept_apart
from relgate.eval.catalogue import Catalogue
from relgate.eval.gaps.find import QueryGaps
from relgate.eval.gaps.plan import FillPlan
from relgate.eval.lists.read import read_list
from relgate.eval.lists.types import JudgmentList, Query, Scale, Source
from relgate.eval.opened_judge import OpenedJudge
from relgate.eval.plans import plan_gaps
from relgate.eval.queries import QueryTable, read_queries
from relgate.judge.sync import run_sync
from relgate.rubrics.errors import InputError

__all__ = [
    "ask_judge",
    "groups_in",
    "measuring_labels",
    "plan_labels",
    "read_tuning",
    "recorded_entry",
]


def measuring_labels(
    labels: JudgmentList,
    opened: Sequence[OpenedJudge],
    tuning: Iterable[Query],
    *,
    split: bool,
) -> tuple[JudgmentList, Hygiene]:
    """The labels that may measure these judges: none of a query that shaped one of them.

    Args:
        labels: all labels.
        opened: the judges; the queries of their examples shaped them, so that the labels of the
            split's tuning part, which examples come from, are left out.
        tuning: queries declared as used for tuning.
        split: leave out the tuning part though no judge has examples.

    Raises:
        HonestyError: a shaping query is among the labels that are left.
    """
    examples = [Query(e.query, e.query) for judge in opened for e in judge.examples]
    return kept_apart(labels, [*tuning, *examples], split=split or bool(examples))


def read_tuning(paths: Iterable[Path], scale: Scale) -> list[Query]:
    """The queries of files that were used to tune a judge: tables of queries, or label lists.

    Raises:
        InputError: a file is neither.
    """
    found: list[Query] = []
    for path in paths:
        try:
            found += [Query(row.id, row.text) for row in read_queries(path).rows]
        except InputError:
            found += read_list(path, scale=scale).judgments.queries
    return found


def groups_in(table: QueryTable) -> GroupsOf:
    """A query's stratum and locale by the table of queries."""

    def groups_of(query: Query) -> Sequence[Group]:
        row = table.by_key(query.id) or table.by_key(query.shown)
        if row is None:
            return ()
        return (
            *((Group("stratum", row.stratum),) if row.stratum is not None else ()),
            *((Group("locale", row.locale),) if row.locale is not None else ()),
        )

    return groups_of


def plan_labels(labels: JudgmentList, opened: OpenedJudge, catalogue: Catalogue) -> FillPlan:
    """What a calibration on `labels` would ask for; nothing is asked."""
    by_query: dict[int, list[str]] = {}
    for q, row in zip(labels.query.tolist(), labels.rows(), strict=True):
        if row.provenance.source is not Source.JUDGE:
            by_query.setdefault(q, []).append(row.doc_id)
    gaps = [
        QueryGaps(labels.queries[q], doc_ids=tuple(docs), returned=len(docs))
        for q, docs in by_query.items()
    ]
    return plan_gaps(gaps, opened, catalogue)


def ask_judge(
    opened: OpenedJudge,
    labels: JudgmentList,
    catalogue: Catalogue,
    *,
    min_labels: int,
    on_progress: Progress | None = None,
) -> Entry:
    """The judge's grades of the labels, and what they took.

    Raises:
        InputError: as `acalibrate_judge`.
    """
    begin = time.monotonic()
    pairs = run_sync(
        agrade_pairs(
            opened.judge,
            labels,
            catalogue.candidate,
            min_labels=min_labels,
            on_progress=on_progress,
        )
    )
    seconds = time.monotonic() - begin
    fresh = len(pairs) - opened.hits
    return Entry(
        name=opened.name,
        pairs=pairs,
        identity=identity_of(opened.judge),
        kind="baseline" if opened.name == "baseline" else "judge",
        costs=_asked_costs(opened, fresh, seconds)
        if fresh > 0
        else _planned_costs(plan_labels(labels, replace(opened, cached=None), catalogue)),
    )


def _asked_costs(opened: OpenedJudge, fresh: int, seconds: float) -> Costs:
    """Of the pairs that were asked just now; grades from the cache took neither money nor time."""
    money = 0.0 if opened.llm is None else opened.cost_usd
    return Costs(
        usd_per_thousand=None if money is None else money / fresh * 1000,
        seconds_per_thousand=seconds / fresh * 1000,
    )


def _planned_costs(plan: FillPlan) -> Costs:
    """All grades came from the cache: what asking anew would cost, midway between the bounds."""
    asked = plan.pairs - plan.no_text
    if plan.cost_usd is None or not asked:
        return Costs()
    return Costs(usd_per_thousand=sum(plan.cost_usd) / 2 / asked * 1000, planned=True)


def recorded_entry(
    name: str, labels: JudgmentList, grades: JudgmentList, *, min_labels: int
) -> Entry:
    """A judge by the grades that it once gave.

    Raises:
        InputError: the lists share no pair, or fewer than `min_labels`.
    """
    pairs = match_grades(labels, grades)
    graded = int(pairs.graded.sum())
    if graded < min_labels:
        raise InputError(
            f"insufficient calibration set: {graded} labels with a grade of {name}, {min_labels} "
            "needed",
            mend="label more pairs, or lower --min-labels",
        )
    return Entry(name=name, pairs=pairs, identity=recorded_judge(grades))
