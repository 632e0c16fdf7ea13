"""A list, runs and a query table, put together for any command. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from relgate.eval.lists.build import ListBuilder
from relgate.eval.lists.types import JudgmentList, Query, match_key
from relgate.eval.metrics.align import Axis, align
from relgate.eval.metrics.overlap import Overlap, overlap, require_overlap
from relgate.eval.project import Project
from relgate.eval.queries import QueryTable
from relgate.eval.runs.types import Run
from relgate.eval.wording import counted
from relgate.rubrics.errors import InputError

__all__ = [
    "Aligned",
    "align_inputs",
    "outranked_texts",
    "overlap_warning",
    "query_texts",
    "with_texts",
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
    axis = align(listed, runs, query_texts(table))
    said = None if judgments is None else _overlap_warning(judgments, runs, axis, project)
    return Aligned(listed, tuple(runs), axis, table, () if said is None else (said,))


def _overlap_warning(
    judgments: JudgmentList, runs: Sequence[Run], axis: Axis, project: Project
) -> str | None:
    return overlap_warning(overlap(judgments, runs, axis, k=project.k), project)


def overlap_warning(found: Overlap, project: Project) -> str | None:
    """As `require_overlap`; its error names the project's list."""
    try:
        return require_overlap(found)
    except InputError as error:
        raise InputError(error.what, path=project.judgments, mend=error.mend) from None


def with_texts(judgments: JudgmentList, table: QueryTable | None) -> JudgmentList:
    """The list with the query table's texts: what a judge is asked must be the query, not its id.

    The table is what somebody said on purpose, so it outranks a text in the list.
    """
    if table is None:
        return judgments
    return replace(judgments, queries=tuple(_with_text(q, table) for q in judgments.queries))


def _with_text(query: Query, table: QueryTable) -> Query:
    text = table.text_of(query.id)
    return query if text is None else replace(query, text=text)


def outranked_texts(judgments: JudgmentList, table: QueryTable | None) -> str | None:
    """What has to be said where a query table gives other texts than the list itself."""
    if table is None:
        return None
    differ = [
        (query, text)
        for query in judgments.queries
        if query.text not in {None, query.id}
        and (text := table.text_of(query.id)) is not None
        and match_key(text) != match_key(query.shown)
    ]
    if not differ:
        return None
    (first, text), n = differ[0], counted(len(differ), "query has", "queries have")
    return (
        f"{n} another text in the query table than in the list, which counts for a judge: "
        f"{first.id!r} is {text!r} there and {first.text!r} in the list"
    )


def query_texts(table: QueryTable | None) -> dict[str, str]:
    """{query id: text} of a table, where it says; empty without a table."""
    rows = () if table is None else table.rows
    return {row.id: row.text for row in rows if row.text is not None}
