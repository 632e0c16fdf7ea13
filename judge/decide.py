"""What a model is asked when it answers in probabilities, and what it answers. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, cast

from relgate.judge.types import GradeError, Usage

__all__ = ["SUM_TOLERANCE", "Decide", "DecideReply", "DecideRequest", "checked_probabilities"]

SUM_TOLERANCE = 0.02
"""How far probabilities may be from a sum of 1: four of them, rounded to two digits."""

_EQUAL = 1e-9


@dataclass(frozen=True, slots=True)
class DecideRequest:
    """One call: the same choice, asked of each candidate.

    Attributes:
        system: the rubric's system text.
        prompt: the query and the numbered candidates; the same for every question.
        questions: one a candidate, in the order of their numbers 1, 2 ...
        labels: the choices, each as (code, what it stands for).
        model: the model asked for.
    """

    system: str
    prompt: str
    questions: tuple[str, ...]
    labels: tuple[tuple[str, str], ...]
    model: str | None = None

    def named_questions(self) -> tuple[tuple[str, str], ...]:
        """Each question with the name by which its answer is known."""
        return tuple((f"candidate_{n}", text) for n, text in enumerate(self.questions, start=1))


@dataclass(frozen=True, slots=True)
class DecideReply:
    """What came back from one call.

    Attributes:
        rows: one a question, in their order: a probability for each label code (all codes, each
            0..1, sum 1), or why there is none.
        usage: tokens, where known.
        model: the model snapshot that really answered, where known.
        unknown: answers to questions that nobody asked.
    """

    rows: tuple[Mapping[str, float] | GradeError, ...]
    usage: Usage = field(default_factory=Usage)
    model: str | None = None
    unknown: int = 0


class Decide(Protocol):
    """A way to a model that answers in probabilities."""

    async def __call__(self, request: DecideRequest, /) -> DecideReply:
        """Answer `request`; raise `CallError`, or anything, on failure."""
        ...


def checked_probabilities(
    pairs: Iterable[tuple[object, object]], *, codes: Sequence[str], chosen: str | None = None
) -> Mapping[str, float] | None:
    """The probability of each label, or None when they are none that can be believed.

    Args:
        pairs: (label code, probability) as they came from outside, of any type.
        codes: the labels asked about.
        chosen: the label that the reply itself names as its choice, if it names one.

    Returns:
        Probabilities that sum to 1. None when a label is missing, unknown or named twice, a
        number is not finite or outside 0..1, the sum is further than `SUM_TOLERANCE` from 1, or
        the choice is not a most probable label.
    """
    found: dict[str, float] = {}
    for code, value in pairs:
        if not isinstance(code, str) or code in found or not _is_probability(value):
            return None
        found[code] = float(cast("float", value))
    total = sum(found.values())
    if set(found) != set(codes) or abs(total - 1.0) > SUM_TOLERANCE:
        return None
    if chosen is not None and found.get(chosen, -1.0) < max(found.values()) - _EQUAL:
        return None
    return {code: found[code] / total for code in codes}


def _is_probability(value: object) -> bool:
    # NaN and infinities fail the comparison
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
