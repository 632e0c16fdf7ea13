"""Two lists beside one another, and several made into one by a named policy. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from relgate.eval.lists.build import ListBuilder
from relgate.eval.lists.types import Judgment, JudgmentList, match_key
from relgate.rubrics.errors import UsageError

__all__ = ["Decision", "ListDiff", "MergePolicy", "Merged", "Moved", "diff_lists", "merge_lists"]

_Key = tuple[str, str]


class MergePolicy(StrEnum):
    """Who wins where lists grade a pair differently.

    `refuse`: nobody. `human-first`: the source of the higher rank (people, then rules and
    imports, then judges); equals that differ are refused. `newest`: the same, and among equals
    the one judged last; without two different dates it is refused. A judge never overwrites a
    person, whatever the dates.
    """

    REFUSE = "refuse"
    HUMAN_FIRST = "human-first"
    NEWEST = "newest"


@dataclass(frozen=True, slots=True)
class Decision:
    """A pair that lists graded differently.

    Attributes:
        query: the query, as shown to a person.
        doc_id: the document.
        grades: (number of the list from 1, grade, source), in order of the lists.
        winner: the number of the list whose grade was taken; None when it was refused.
        why: why.
    """

    query: str
    doc_id: str
    grades: tuple[tuple[int, int, str], ...]
    winner: int | None
    why: str


@dataclass(frozen=True, slots=True)
class Merged:
    """The merged list, None when any pair was refused; and every contested pair."""

    judgments: JudgmentList | None
    decisions: tuple[Decision, ...]

    @property
    def refused(self) -> tuple[Decision, ...]:
        """The pairs that the policy decides for nobody."""
        return tuple(d for d in self.decisions if d.winner is None)


@dataclass(frozen=True, slots=True)
class Moved:
    """A pair whose grade differs between two lists."""

    query: str
    doc_id: str
    old: int
    new: int


@dataclass(frozen=True, slots=True)
class ListDiff:
    """Two lists, pair by pair.

    Attributes:
        same: pairs with one grade in both.
        moved: pairs with two.
        added: pairs of the new list only, as (query, document).
        removed: pairs of the old list only.
        queries_added: queries of the new list only.
        queries_removed: queries of the old list only.
        changed_source: pairs with one grade but another source.
        by: what queries met by: `id` or `text`.
    """

    same: int
    moved: tuple[Moved, ...]
    added: tuple[_Key, ...]
    removed: tuple[_Key, ...]
    queries_added: tuple[str, ...]
    queries_removed: tuple[str, ...]
    changed_source: int
    by: str


def _query_key(row: Judgment, by: str) -> str:
    return match_key(row.query.shown if by == "text" else row.query.id)


def _rows(judgments: JudgmentList, by: str) -> dict[_Key, Judgment]:
    return {(_query_key(row, by), match_key(row.doc_id)): row for row in judgments.rows()}


def _met_by(old: JudgmentList, new: JudgmentList) -> str:
    """`id`, unless no id is shared and a text is."""
    ids = [{match_key(q.id) for q in judgments.queries} for judgments in (old, new)]
    texts = [{match_key(q.shown) for q in judgments.queries} for judgments in (old, new)]
    return "text" if not ids[0] & ids[1] and texts[0] & texts[1] else "id"


def _one_scale(lists: Sequence[JudgmentList]) -> None:
    names = list(dict.fromkeys(judgments.scale.name for judgments in lists))
    if len(names) > 1:
        raise UsageError(f"lists on different scales: {', '.join(names)}; read them on one")


def diff_lists(old: JudgmentList, new: JudgmentList) -> ListDiff:
    """What differs between two lists of one scale.

    Raises:
        UsageError: two scales.
    """
    _one_scale([old, new])
    by = _met_by(old, new)
    before, after = _rows(old, by), _rows(new, by)
    shared = [(row, after[key]) for key, row in before.items() if key in after]
    shown = [
        {match_key(q.shown if by == "text" else q.id): q.shown for q in judgments.queries}
        for judgments in (old, new)
    ]
    return ListDiff(
        same=sum(one.grade == two.grade for one, two in shared),
        moved=tuple(
            Moved(one.query.shown, one.doc_id, one.grade, two.grade)
            for one, two in shared
            if one.grade != two.grade
        ),
        added=_only(after, before),
        removed=_only(before, after),
        queries_added=tuple(text for key, text in shown[1].items() if key not in shown[0]),
        queries_removed=tuple(text for key, text in shown[0].items() if key not in shown[1]),
        changed_source=sum(
            one.grade == two.grade and one.provenance.source is not two.provenance.source
            for one, two in shared
        ),
        by=by,
    )


def _only(these: dict[_Key, Judgment], those: dict[_Key, Judgment]) -> tuple[_Key, ...]:
    return tuple((row.query.shown, row.doc_id) for key, row in these.items() if key not in those)


def merge_lists(lists: Sequence[JudgmentList], policy: MergePolicy) -> Merged:
    """One list of several; queries meet by id.

    Pairs with one grade in all lists keep the provenance of the highest rank, then the first.

    Raises:
        UsageError: two scales.
    """
    _one_scale(lists)
    given: dict[_Key, list[tuple[int, Judgment]]] = {}
    builder = ListBuilder(lists[0].scale)
    for number, judgments in enumerate(lists, start=1):
        for query in judgments.queries:
            builder.add_query(query)
        for key, row in _rows(judgments, "id").items():
            given.setdefault(key, []).append((number, row))
    decisions: list[Decision] = []
    for rows in given.values():
        winner, why = _winner(rows, policy)
        if len({row.grade for _, row in rows}) > 1:
            decisions.append(_decision(rows, winner, why))
        row = rows[0][1] if winner is None else winner[1]
        builder.add_row(row)
    refused = any(decision.winner is None for decision in decisions)
    return Merged(None if refused else builder.build(), tuple(decisions))


def _decision(
    rows: list[tuple[int, Judgment]], winner: tuple[int, Judgment] | None, why: str
) -> Decision:
    first = rows[0][1]
    grades = tuple((number, row.grade, str(row.provenance.source)) for number, row in rows)
    return Decision(
        first.query.shown, first.doc_id, grades, None if winner is None else winner[0], why
    )


def _winner(
    rows: list[tuple[int, Judgment]], policy: MergePolicy
) -> tuple[tuple[int, Judgment] | None, str]:
    """Whose grade is taken, and why."""
    if policy is MergePolicy.REFUSE and len({row.grade for _, row in rows}) > 1:
        return None, "no policy was named"
    top = max(row.provenance.source.rank for _, row in rows)
    best = [(number, row) for number, row in rows if row.provenance.source.rank == top]
    if len({row.grade for _, row in best}) == 1:
        return best[0], f"{best[0][1].provenance.source} outranks the others"
    if policy is MergePolicy.HUMAN_FIRST:
        return None, f"several of source {best[0][1].provenance.source} differ"
    return _newest(best)


def _newest(
    rows: list[tuple[int, Judgment]],
) -> tuple[tuple[int, Judgment] | None, str]:
    dated = [(_time(row.provenance.judged_at), number, row) for number, row in rows]
    times = [time for time, _, _ in dated if time is not None]
    if len(times) < len(dated):
        return None, "a judgment has no date"
    last = max(times)
    newest = [(number, row) for time, number, row in dated if time == last]
    if len({row.grade for _, row in newest}) > 1:
        return None, "several of the newest differ"
    return newest[0], f"judged last, {newest[0][1].provenance.judged_at}"


def _time(text: str | None) -> datetime | None:
    """An ISO 8601 time; one without a zone is taken as UTC."""
    try:
        time = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)
