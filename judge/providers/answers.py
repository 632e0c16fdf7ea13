"""Answers of a `decisions` API, matched to the questions asked. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from relgate.judge.decide import DecideRequest, checked_probabilities
from relgate.judge.types import GradeError

__all__ = ["rows_by_name"]

Row = Mapping[str, float] | GradeError


def rows_by_name(
    answers: Iterable[tuple[object, object]],
    request: DecideRequest,
    *,
    pairs_of: Callable[[object], Sequence[tuple[object, object]]],
) -> tuple[tuple[Row, ...], int]:
    """One row a question, in their order, and how many answers named no question.

    An answer belongs to the question that it names, never to the one in its place. A question
    that is answered twice, and differently, stays without an answer.

    Args:
        answers: (name of the question, answer) as the SDK read them, unchecked.
        request: what was asked.
        pairs_of: (label code, probability) of an answer.
    """
    codes = [code for code, _ in request.labels]
    names = [name for name, _ in request.named_questions()]
    found: dict[str, Row] = {}
    unknown = 0
    for name, answer in answers:
        if not isinstance(name, str) or name not in names:
            unknown += 1
            continue
        row = _row(answer, codes, pairs_of)
        old = found.get(name)
        found[name] = row if old is None or old == row else GradeError.UNREADABLE
    return tuple(found.get(name, GradeError.MISSING) for name in names), unknown


def _row(
    answer: object,
    codes: Sequence[str],
    pairs_of: Callable[[object], Sequence[tuple[object, object]]],
) -> Row:
    kind, chosen = getattr(answer, "type", None), getattr(answer, "choice", None)
    if kind == "refusal":
        return GradeError.REFUSED
    if kind != "choice" or not isinstance(chosen, str):
        return GradeError.UNREADABLE
    row = checked_probabilities(pairs_of(answer), codes=codes, chosen=chosen)
    return GradeError.UNREADABLE if row is None else row
