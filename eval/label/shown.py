"""What the page shows of a label, and of a rater's last answer. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from relgate.eval.label.desk import Desk
from relgate.eval.label.types import JudgeGrade
from relgate.rubrics import Label

__all__ = ["Last", "keys_of", "last_of"]

_TAKEN = frozenset("nuxj")  # note, undo, skip, judge
_MOST_DIGIT = 9
_TITLE_CHARS = 80


@dataclass(frozen=True, slots=True)
class Last:
    """A rater's last answer.

    Attributes:
        id: the answer's.
        label: the label that was given; None where the pair was skipped.
        query: the pair's query.
        product: how its document begins.
        can_undo: whether it can be taken back.
        can_reveal: whether there is a judge's grade to see that was not seen yet.
        judge: what the judge said, once it was asked for.
        judge_label: the label of that grade.
    """

    id: str
    label: Label | None
    query: str
    product: str
    can_undo: bool
    can_reveal: bool
    judge: JudgeGrade | None = None
    judge_label: Label | None = None


def keys_of(label: Label) -> tuple[str, ...]:
    """The keys that give a label: its grade's digit, and its letter where that is free."""
    digit = (str(label.grade),) if label.grade <= _MOST_DIGIT else ()
    code = label.code.casefold()
    free = len(code) == 1 and code.isalpha() and code not in _TAKEN
    return (*digit, code) if free else digit


def last_of(desk: Desk, rater: str) -> Last | None:
    """A rater's last answer that stands, or None."""
    answer = desk.board.last(rater)
    if answer is None:
        return None
    task = desk.board.tasks[answer.pair]
    judge = desk.judge.get(answer.pair)
    sealed = desk.board.sealed(answer)
    title = dict(task.fields).get("title", task.text)
    seen = judge if sealed else None
    return Last(
        id=answer.id,
        label=None if answer.grade is None else desk.rubric.label_for_grade(answer.grade),
        query=task.query.shown,
        product=title if len(title) <= _TITLE_CHARS else title[:_TITLE_CHARS] + "…",
        can_undo=not sealed,
        can_reveal=judge is not None and not sealed,
        judge=seen,
        judge_label=None if seen is None else desk.rubric.label_for_grade(seen.grade),
    )
