"""Puts new grades into a list and takes out what is gone. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from relgate.eval.gaps.fill import check_on_scale
from relgate.eval.gaps.find import QueryGaps
from relgate.eval.lists.build import ListBuilder
from relgate.eval.lists.types import Judgment, JudgmentList, Query, Source, match_key
from relgate.eval.refresh.stale import Check, Staleness, State

__all__ = [
    "Move",
    "Refreshed",
    "StaleRow",
    "apply_grades",
    "retired_rows",
    "stale_gaps",
    "with_texts",
]

_Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class StaleRow:
    """A stale judgment that stays as it is for now, or went out of the list."""

    judgment: Judgment
    why: tuple[Check, ...]


@dataclass(frozen=True, slots=True)
class Move:
    """A pair that a judge graded anew, perhaps with the same grade.

    Attributes:
        query: the pair's query.
        doc_id: its document.
        old: the grade that was stale.
        new: the grade now.
        why: why the old one was stale.
    """

    query: Query
    doc_id: str
    old: int
    new: int
    why: tuple[Check, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Refreshed:
    """What a refresh made of a list.

    Attributes:
        judgments: the new list; the same queries in the same order.
        moves: the pairs graded anew, in the list's order.
        retired: judgments whose document is gone; in no list any more.
        still_stale: a judge's stale judgments that got no new grade; kept in the list.
        for_people: stale judgments that no judge made; kept in the list.
    """

    judgments: JudgmentList
    moves: tuple[Move, ...]
    retired: tuple[StaleRow, ...]
    still_stale: tuple[StaleRow, ...]
    for_people: tuple[StaleRow, ...]

    @property
    def matrix(self) -> dict[tuple[int, int], int]:
        """{(old grade, new grade): pairs}, sorted; the diagonal kept its grade."""
        counts = Counter((move.old, move.new) for move in self.moves)
        return {key: counts[key] for key in sorted(counts)}

    @property
    def changed(self) -> int:
        """Pairs whose grade is another now."""
        return sum(move.old != move.new for move in self.moves)


def stale_gaps(
    judgments: JudgmentList, staleness: Staleness, texts: Mapping[str, str]
) -> list[QueryGaps]:
    """What a judge has to grade anew, as gaps to fill: the stale judgments that a judge made.

    Args:
        judgments: the list.
        staleness: of that list.
        texts: {query id: text} for a list that gives ids alone.
    """
    queries = with_texts(judgments.queries, texts)
    docs: dict[int, list[str]] = {}
    stale = staleness.where(State.STALE, by_judge=True).tolist()
    for q, doc_id, old in zip(judgments.query.tolist(), judgments.doc_id, stale, strict=True):
        if old:
            docs.setdefault(q, []).append(doc_id)
    return [QueryGaps(queries[q], tuple(docs[q]), len(docs[q])) for q in sorted(docs)]


def with_texts(queries: Iterable[Query], texts: Mapping[str, str]) -> list[Query]:
    """Queries with the texts that their list lacks, from `{query id: text}`."""
    known = {match_key(query_id): text for query_id, text in texts.items()}
    return [
        query if query.text is not None else Query(query.id, known.get(match_key(query.id)))
        for query in queries
    ]


def retired_rows(judgments: JudgmentList, staleness: Staleness) -> JudgmentList:
    """The judgments whose document is gone, as a list of their own."""
    builder = ListBuilder(judgments.scale)
    for row, found in zip(judgments.rows(), staleness.rows, strict=True):
        if found.state is State.GONE:
            builder.add_row(row)
    return builder.build()


def apply_grades(
    judgments: JudgmentList, staleness: Staleness, graded: Iterable[Judgment]
) -> Refreshed:
    """The list with new grades in their old places, and without the documents that are gone.

    Args:
        judgments: the old list; it stays as it is.
        staleness: of that list.
        graded: new grades of stale judgments that a judge made; one for another pair is passed
            over, so that no person's grade is ever replaced.

    Raises:
        UsageError: a grade that the list's scale does not have.
    """
    new = {_pair(row): row for row in graded}
    builder = ListBuilder(judgments.scale)
    for query in judgments.queries:
        builder.add_query(query)
    moves: list[Move] = []
    apart: dict[str, list[StaleRow]] = {"retired": [], "still": [], "people": []}
    for row, found in zip(judgments.rows(), staleness.rows, strict=True):
        state, kept = found.state, row
        if state is State.GONE:
            apart["retired"].append(StaleRow(row, found.why))
            continue
        if state is State.STALE:
            by_judge = row.provenance.source is Source.JUDGE
            fresh = new.get(_pair(row)) if by_judge else None
            if fresh is not None:
                check_on_scale(fresh, judgments)
                moves.append(Move(row.query, row.doc_id, row.grade, fresh.grade, found.why))
                kept = fresh
            else:
                apart["still" if by_judge else "people"].append(StaleRow(row, found.why))
        builder.add_row(replace(kept, query=row.query, doc_id=row.doc_id))
    return Refreshed(
        judgments=builder.build(),
        moves=tuple(moves),
        retired=tuple(apart["retired"]),
        still_stale=tuple(apart["still"]),
        for_people=tuple(apart["people"]),
    )


def _pair(row: Judgment) -> _Pair:
    return match_key(row.query.id), match_key(row.doc_id)
