"""Which grades stay possible where a judge gave one: its error, as its certificates tell. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from relgate.eval.lists.types import JudgmentList, Provenance, Source, match_key

__all__ = ["DoubtedJudge", "JudgeError"]


@dataclass(frozen=True, slots=True)
class DoubtedJudge:
    """One judge of a review.

    Attributes:
        version: its version.
        certificate: id of the certificate that was read.
        labels: pairs in that certificate's table.
        possible: for each of its grades, those that stay possible, rising.
    """

    version: str
    certificate: str
    labels: int
    possible: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class JudgeError:
    """What the judges of a review may have got wrong.

    Attributes:
        level: share of people's grades that stays possible, for each of a judge's grades.
        judges: by fingerprint; every judge whose grades count has its entry.
    """

    level: float
    judges: Mapping[str, DoubtedJudge]

    def possible(self, made: Provenance, grade: int) -> tuple[int, ...]:
        """The grades that stay possible; the grade alone where no judge gave it."""
        if made.source is not Source.JUDGE or made.fingerprint is None:
            return (grade,)
        return self.judges[made.fingerprint].possible[grade]

    def doubts(self, judgments: JudgmentList) -> list[dict[str, tuple[int, ...]]]:
        """Per query of the list: {match key of a judge's document: what stays possible}."""
        out: list[dict[str, tuple[int, ...]]] = [{} for _ in judgments.queries]
        doubted = [self._by_grade(origin) for origin in judgments.origins]
        for i, doc_id in enumerate(judgments.doc_id):
            possible = doubted[int(judgments.origin[i])]
            if possible is not None:
                out[int(judgments.query[i])][match_key(doc_id)] = possible[int(judgments.grade[i])]
        return out

    def _by_grade(self, made: Provenance) -> tuple[tuple[int, ...], ...] | None:
        judge = made.source is Source.JUDGE and made.fingerprint is not None
        return self.judges[str(made.fingerprint)].possible if judge else None
