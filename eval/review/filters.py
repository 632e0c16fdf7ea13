"""Whether filter cases hold on each side. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from relgate.eval.lists.types import JudgmentList, match_key
from relgate.eval.review.supplied import FilterCase, Observed

__all__ = ["CheckedCase", "check_cases"]

_GOOD_GRADE = 2


@dataclass(frozen=True, slots=True)
class CheckedCase:
    """A filter case, and whether it held; None where that cannot be told."""

    case: FilterCase
    held_before: bool | None
    held_after: bool | None

    @property
    def shown(self) -> str:
        """What a person reads: `"red shoe" with brand=acme`."""
        return f'"{self.case.query}" with {self.case.filter}'


def check_cases(
    cases: Iterable[FilterCase], judgments: JudgmentList | None
) -> tuple[CheckedCase, ...]:
    """Holds each case to its expectation on both sides.

    `>=1 grade>=2` needs the ids that came back and their grades: those of the case, else those of
    the list. It holds as soon as one graded document does; without one it is broken only when
    every document that came back has a grade, and else cannot be told.
    """
    known = _grades_by_name(judgments)
    out: list[CheckedCase] = []
    for case in cases:
        listed = known.get(match_key(case.query), {})
        own = {match_key(doc): grade for doc, grade in case.grades.items()}
        grades = {**listed, **own}
        before, after = (_holds(case, seen, grades) for seen in (case.before, case.after))
        out.append(CheckedCase(case, before, after))
    return tuple(out)


def _grades_by_name(judgments: JudgmentList | None) -> dict[str, Mapping[str, int]]:
    """Grades by each name of a query: its text, and its id, which wins."""
    if judgments is None:
        return {}
    found = list(zip(judgments.queries, judgments.grades_by_query(), strict=True))
    by_text = {match_key(q.text): grades for q, grades in found if q.text is not None}
    return {**by_text, **{match_key(q.id): grades for q, grades in found}}


def _holds(case: FilterCase, seen: Observed | None, grades: Mapping[str, int]) -> bool | None:
    return None if seen is None else _TESTS[case.expect](seen, grades)


def _has_good(seen: Observed, grades: Mapping[str, int]) -> bool | None:
    if not seen.hits:
        return False
    if seen.doc_ids is None:
        return None
    found = [grades.get(match_key(doc)) for doc in seen.doc_ids]
    if any(grade is not None and grade >= _GOOD_GRADE for grade in found):
        return True
    return None if None in found else False


_TESTS: Mapping[str, Callable[[Observed, Mapping[str, int]], bool | None]] = {
    "non-empty": lambda seen, _: seen.hits > 0,
    "empty": lambda seen, _: seen.hits == 0,
    ">=1 grade>=2": _has_good,
}
