"""What a judgment list comes to, in a few numbers. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from relgate.eval.lists.grades_used import GradesUsed
from relgate.eval.lists.sink import ListFile

__all__ = ["ListSummary"]


@dataclass(frozen=True, slots=True)
class ListSummary:
    """What was read of a list, or of a part of it.

    Attributes:
        format: what the file was taken for.
        judgments: its pairs.
        queries: its queries.
        unlabelled: rows with a document but no grade.
        repeats: rows that said again what another row had said.
        outranked: rows that a source of higher rank overruled.
        grades: which grades it uses.
    """

    format: str
    judgments: int
    queries: int
    unlabelled: int
    repeats: int
    outranked: int
    grades: GradesUsed

    @classmethod
    def of(cls, file: ListFile) -> ListSummary:
        """That of a whole list."""
        made = file.judgments
        return cls(
            format=file.format,
            judgments=len(made),
            queries=len(made.queries),
            unlabelled=file.unlabelled,
            repeats=file.repeats,
            outranked=file.outranked,
            grades=GradesUsed.of(made),
        )

    def __add__(self, other: ListSummary) -> ListSummary:
        return ListSummary(
            self.format,
            self.judgments + other.judgments,
            self.queries + other.queries,
            self.unlabelled + other.unlabelled,
            self.repeats + other.repeats,
            self.outranked + other.outranked,
            self.grades + other.grades,
        )
