"""A vote, and what votes are called. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from relgate.eval.sidebyside.match import Side

__all__ = ["Choice", "Preference", "Vote", "latest", "preference"]


class Choice(StrEnum):
    """What a rater says, who does not know which run is which."""

    LEFT = "left"
    RIGHT = "right"
    SAME = "same"
    NEITHER = "neither"
    SKIP = "skip"


class Preference(StrEnum):
    """What it means once the sides are known.

    `same` and `neither` (good for this query) are ties; a skipped query is no vote.
    """

    BEFORE = "before"
    AFTER = "after"
    SAME = "same"
    NEITHER = "neither"
    SKIP = "skip"


@dataclass(frozen=True, slots=True)
class Vote:
    """One rater's answer on one query.

    Attributes:
        rater: who, as the rater signed.
        query_id: which query.
        query: its text.
        prefers: the answer.
        left: the run that stood on the left.
        note: what the rater wrote, or empty.
        at: ISO 8601 time, UTC.
    """

    rater: str
    query_id: str
    query: str
    prefers: Preference
    left: Side
    note: str = ""
    at: str = ""


def preference(choice: Choice, left: Side) -> Preference:
    """What a choice between left and right says of the runs."""
    match choice:
        case Choice.LEFT:
            return Preference(left.value)
        case Choice.RIGHT:
            return Preference(left.other.value)
        case _:
            return Preference(choice.value)


def latest(votes: list[Vote]) -> list[Vote]:
    """The last vote of each rater on each query, in the order in which they were first given."""
    kept: dict[tuple[str, str], Vote] = {}
    for vote in votes:
        kept[vote.rater, vote.query_id] = vote
    return list(kept.values())
