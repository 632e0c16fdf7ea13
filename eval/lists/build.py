"""Builds a judgment list row by row, and finds what is wrong with it. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from relgate.eval.lists.raters import Conflict, Raters, Vote, settled, voter
from relgate.eval.lists.types import (
    Judgment,
    JudgmentList,
    Provenance,
    Query,
    Scale,
    match_key,
)
from relgate.rubrics.errors import InputError

__all__ = ["ListBuilder"]

_SHOWN_CONFLICTS = 5


@dataclass(slots=True)
class _Row:
    query: int
    doc_id: str
    grade: int
    origin: int
    reason: str | None
    text_hash: str | None
    line: int | None


class ListBuilder:
    """Collects rows into a `JudgmentList`.

    Identical repeats count once. Two sources of different rank on one pair: the higher wins
    (people outrank judges). Two different grades of one rank are a conflict: the named policy
    settles it, and `build` refuses in one message all that it does not settle.

    Args:
        scale: the scale every grade must lie on.
        path: the file the rows come from, for error messages.
        raters: how conflicts are settled; by default they are not.
    """

    def __init__(
        self, scale: Scale, *, path: str | None = None, raters: Raters = Raters.REFUSE
    ) -> None:
        self.scale = scale
        self.path = path
        self.raters = raters
        self.repeats = 0
        self.outranked = 0
        self._queries: dict[str, int] = {}
        self._query_list: list[Query] = []
        self._origins: dict[Provenance, int] = {}
        self._ranks: list[int] = []
        self._rows: dict[tuple[int, str], _Row] = {}
        self._votes: dict[tuple[int, str], list[_Row]] = {}  # of pairs with more than one

    def add_query(self, query: Query) -> int:
        """Registers a query (also one without judgments) and returns its index.

        A text that comes later than its id is kept, also where the id was all that was said.
        """
        key = match_key(query.id)
        index = self._queries.get(key)
        if index is None:
            index = self._queries[key] = len(self._query_list)
            self._query_list.append(query)
        elif query.text is not None and self._query_list[index].is_bare:
            self._query_list[index] = Query(self._query_list[index].id, query.text)
        return index

    def add(
        self,
        query: Query,
        doc_id: str,
        grade: int,
        provenance: Provenance,
        *,
        reason: str | None = None,
        text_hash: str | None = None,
        line: int | None = None,
    ) -> None:
        """Adds one judgment.

        Raises:
            InputError: an empty id, or a grade off the scale.
        """
        if not query.id or not doc_id:
            raise InputError(
                "empty query or document id",
                path=self.path,
                line=line,
                mend="fill it in, or drop the row",
            )
        if not 0 <= grade <= self.scale.max_grade:
            raise InputError(
                f"grade {grade} of document {doc_id!r} is not on the scale {self.scale.name} "
                f"(0 to {self.scale.max_grade})",
                path=self.path,
                line=line,
                mend="correct the grade, or state the list's scale with --scale",
            )
        q = self.add_query(query)
        row = _Row(q, doc_id, grade, self._origin(provenance), reason, text_hash, line)
        key = (q, match_key(doc_id))
        old = self._rows.get(key)
        if old is None:
            self._rows[key] = row
        else:
            self._meet(key, old, row)

    def add_row(self, row: Judgment) -> None:
        """Adds one judgment of another list, with all that it says.

        Raises:
            InputError: as `add`.
        """
        self.add(
            row.query,
            row.doc_id,
            row.grade,
            row.provenance,
            reason=row.reason,
            text_hash=row.text_hash,
        )

    def _origin(self, provenance: Provenance) -> int:
        origin = self._origins.setdefault(provenance, len(self._origins))
        if origin == len(self._ranks):
            self._ranks.append(provenance.source.rank)
        return origin

    def _meet(self, key: tuple[int, str], old: _Row, new: _Row) -> None:
        old_rank, new_rank = self._ranks[old.origin], self._ranks[new.origin]
        if old_rank != new_rank:
            self.outranked += 1
            if new_rank > old_rank:
                self._rows[key] = new
                self._votes.pop(key, None)
            return
        votes = self._votes.setdefault(key, [old])
        self.repeats += new.grade == old.grade
        if not any((vote.origin, vote.grade) == (new.origin, new.grade) for vote in votes):
            votes.append(new)

    def votes(self) -> tuple[Conflict, ...]:
        """The pairs that several equals graded, alike or not."""
        origins = list(self._origins)

        def vote(row: _Row) -> Vote:
            return Vote(voter(origins[row.origin]), row.grade, row.line)

        def of(query: Query, rows: list[_Row]) -> Conflict:
            return Conflict(query.id, query.shown, rows[0].doc_id, tuple(map(vote, rows)))

        return tuple(
            of(self._query_list[q], rows) for (q, _), rows in self._votes.items() if len(rows) > 1
        )

    def _settle(self) -> tuple[dict[tuple[int, str], _Row], list[Conflict]]:
        """The rows that the policy makes of conflicts, and the conflicts that it leaves."""
        made: dict[tuple[int, str], _Row] = {}
        left: list[Conflict] = []
        contested = [key for key, rows in self._votes.items() if len(rows) > 1]
        for key, conflict in zip(contested, self.votes(), strict=True):
            grades = [vote.grade for vote in conflict.votes]
            if len(set(grades)) == 1:
                continue
            grade = settled(grades, self.raters)
            if grade is None:
                left.append(conflict)
            elif self.raters is not Raters.FIRST:
                made[key] = self._agreed(self._votes[key][0], grade)
        return made, left

    def _agreed(self, first: _Row, grade: int) -> _Row:
        """A grade that is nobody's own: it names no rater and gives no reason."""
        provenance = replace(list(self._origins)[first.origin], rater=None)
        return replace(first, grade=grade, origin=self._origin(provenance), reason=None)

    def build(self) -> JudgmentList:
        """The list.

        Raises:
            InputError: different grades for one pair that the policy does not settle, all such
                pairs in one message.
        """
        made, left = self._settle()
        if left:
            more = len(left) - _SHOWN_CONFLICTS
            tail = f" and {more} more" if more > 0 else ""
            raise InputError(
                f"{len(left)} pair(s) with two different grades: "
                + "; ".join(conflict.shown for conflict in left[:_SHOWN_CONFLICTS])
                + tail,
                path=self.path,
                mend="keep one grade for each pair, or settle them by a named policy with "
                "relgate convert --raters",
            )
        rows = [made.get(key, row) for key, row in self._rows.items()]
        reasons = tuple(r.reason for r in rows)
        hashes = tuple(r.text_hash for r in rows)
        return JudgmentList(
            scale=self.scale,
            queries=tuple(self._query_list),
            query=np.fromiter((r.query for r in rows), np.int32, len(rows)),
            doc_id=tuple(r.doc_id for r in rows),
            grade=np.fromiter((r.grade for r in rows), np.int16, len(rows)),
            origins=tuple(self._origins),
            origin=np.fromiter((r.origin for r in rows), np.int32, len(rows)),
            reason=reasons if any(r is not None for r in reasons) else None,
            text_hash=hashes if any(h is not None for h in hashes) else None,
        )
