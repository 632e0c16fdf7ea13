"""What the owner sees of the work: progress, raters, agreement. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from relgate.eval.agreement.multirater import coincidences, krippendorff_alpha
from relgate.eval.agreement.ratings import (
    PairAgreement,
    defined,
    pairwise_agreement,
    ratings_of_votes,
    why_undefined,
)
from relgate.eval.label.board import Board, Progress
from relgate.eval.label.types import Act

__all__ = ["Figures", "RaterWork", "figures"]


@dataclass(frozen=True, slots=True)
class RaterWork:
    """What one rater has done.

    Attributes:
        rater: who.
        graded: pairs.
        skipped: pairs.
        left: pairs that still want this rater.
        last_at: time of the last answer, ISO 8601.
    """

    rater: str
    graded: int
    skipped: int
    left: int
    last_at: str


@dataclass(frozen=True, slots=True)
class Figures:
    """The state of a labelling.

    Attributes:
        progress: of the pairs.
        raters: of each rater.
        skips: {reason: answers}, in the order of frequency.
        agreement: every two raters on the pairs that both graded.
        alpha: Krippendorff's alpha, ordinal, of all raters; None where it is undefined.
        undefined: why agreement cannot be told, or None.
    """

    progress: Progress
    raters: tuple[RaterWork, ...]
    skips: dict[str, int]
    agreement: tuple[PairAgreement, ...]
    alpha: float | None
    undefined: str | None


def figures(board: Board, *, n_grades: int) -> Figures:
    """The figures of the answers so far; points without intervals, which `agreement` gives."""
    work = tuple(_work(board, rater) for rater in board.raters)
    skips = Counter(
        answer.skip
        for rater in board.raters
        for answer in board.answers(rater)
        if answer.act is Act.SKIP
    )
    votes = board.votes()
    ratings = ratings_of_votes(votes, n_grades=n_grades)
    undefined = why_undefined(ratings)
    alpha = None
    if undefined is None:
        together = coincidences(ratings.counts).sum(axis=0)
        alpha = defined(krippendorff_alpha(together, level="ordinal"))
    pairs = pairwise_agreement(ratings)
    return Figures(board.progress(), work, dict(skips.most_common()), pairs, alpha, undefined)


def _work(board: Board, rater: str) -> RaterWork:
    own = board.answers(rater)
    graded = sum(answer.act is Act.GRADE for answer in own)
    return RaterWork(rater, graded, len(own) - graded, board.left_for(rater), own[-1].at)
