"""Two grades for one pair: what a conflict is, and the named policies that settle it. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from relgate.eval.lists.types import Provenance

__all__ = ["Conflict", "Raters", "Vote", "settled", "voter"]


class Raters(StrEnum):
    """What to do when equals of one rank grade a pair differently.

    `refuse` refuses the list. `first` takes the grade that stands first. `median` takes the
    middle grade, of an even number the lower of the two. `majority` takes the grade that more
    raters gave than any other; a tie is refused.
    """

    REFUSE = "refuse"
    MAJORITY = "majority"
    MEDIAN = "median"
    FIRST = "first"


@dataclass(frozen=True, slots=True)
class Vote:
    """One of several grades of a pair: who gave it (None where the file does not say)."""

    rater: str | None
    grade: int
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Conflict:
    """A pair that equals graded differently.

    Attributes:
        query_id: the query's id; several ids may have one text.
        query: the query, as shown to a person.
        doc_id: the document.
        votes: every grade of the pair, in file order.
    """

    query_id: str
    query: str
    doc_id: str
    votes: tuple[Vote, ...]

    @property
    def shown(self) -> str:
        """`'query' 'doc': 1 and 0 (lines 2 and 3)`."""
        grades = " and ".join(str(vote.grade) for vote in self.votes)
        lines = [str(vote.line) for vote in self.votes if vote.line is not None]
        place = f" (lines {' and '.join(lines)})" if lines else ""
        return f"{self.query!r} {self.doc_id!r}: {grades}{place}"


def settled(grades: Sequence[int], policy: Raters) -> int | None:
    """The grade that `policy` makes of several; None when it makes none.

    Args:
        grades: in file order, at least one.
        policy: how.
    """
    match policy:
        case Raters.REFUSE:
            return None
        case Raters.FIRST:
            return grades[0]
        case Raters.MEDIAN:
            return sorted(grades)[(len(grades) - 1) // 2]
        case Raters.MAJORITY:
            (grade, most), *others = Counter(grades).most_common()
            return None if others and others[0][1] == most else grade


def voter(origin: Provenance) -> str | None:
    """Who gave a grade: the rater, else the model, else the judge's version."""
    return origin.rater or origin.model or origin.judge_version
