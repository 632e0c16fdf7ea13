"""A pair to grade, and what people did with it. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from annotated_types import Ge, MaxLen, MinLen

from relgate.cache.keys import text_hash
from relgate.eval.lists.types import Query, match_key

__all__ = [
    "MAX_NAME_CHARS",
    "MAX_NOTE_CHARS",
    "SKIP_REASONS",
    "Act",
    "Answer",
    "JudgeGrade",
    "Task",
    "tasks_key",
]

MAX_NAME_CHARS = 60
MAX_NOTE_CHARS = 2_000

SKIP_REASONS = ("query", "product", "rubric", "other")
"""Why a pair is skipped: the query is unclear, the product cannot be told from its card, the
rubric does not say, or something else."""


@dataclass(frozen=True, slots=True)
class Task:
    """A pair to grade. It does not know who returned it, or where.

    Attributes:
        query: its query.
        doc_id: its document; not shown.
        text: what a judge would see of the document.
        fields: the named parts of that text; empty where it is one text.
        need: what the shopper is after, in words, or None.
        filters: what the query was sent with, or None.
        locale: the query's locale, or None.
        image: where the page may load an image of it from, or None.
        image_held_back: whether there is one that it may not load.
    """

    query: Query
    doc_id: str
    text: str
    fields: tuple[tuple[str, str], ...] = ()
    need: str | None = None
    filters: str | None = None
    locale: str | None = None
    image: str | None = None
    image_held_back: bool = False

    @property
    def pair(self) -> tuple[str, str]:
        """Query and document, as they are compared."""
        return match_key(self.query.id), match_key(self.doc_id)

    @property
    def key(self) -> str:
        """What the page calls it; tells nothing of the document."""
        return _hash("\0".join(self.pair))[:16]

    @property
    def text_hash(self) -> str:
        """The hash of the text that is graded."""
        return text_hash(self.text)


@dataclass(frozen=True, slots=True)
class JudgeGrade:
    """What a judge said of a pair; shown, if at all, once a person has answered."""

    grade: int
    reason: str | None = None


class Act(StrEnum):
    """What a rater did.

    `undo` takes the rater's own earlier answer back. `reveal` is a look at the judge's grade,
    after which the answer stands.
    """

    GRADE = "grade"
    SKIP = "skip"
    UNDO = "undo"
    REVEAL = "reveal"


_Id = Annotated[str, MinLen(1), MaxLen(64)]


@dataclass(frozen=True, slots=True)
class Answer:
    """One line of the file of answers.

    Attributes:
        id: the page's own, new for each answer, so that one that is sent twice counts once.
        act: what was done.
        rater: who.
        query_id: the pair's query.
        query: its text.
        doc_id: the pair's document.
        at: ISO 8601 time, UTC.
        grade: the grade, for `grade`.
        skip: one of `SKIP_REASONS`, for `skip`.
        note: what the rater wrote.
        text_hash: hash of the text that the rater saw.
        of: the answer that is taken back or revealed, by id.
    """

    id: _Id
    act: Act
    rater: Annotated[str, MinLen(1), MaxLen(MAX_NAME_CHARS)]
    query_id: Annotated[str, MinLen(1)]
    query: str | None
    doc_id: Annotated[str, MinLen(1)]
    at: str
    grade: Annotated[int, Ge(0)] | None = None
    skip: str = ""
    note: str = ""
    text_hash: str | None = None
    of: str = ""

    @property
    def pair(self) -> tuple[str, str]:
        """Query and document, as they are compared."""
        return match_key(self.query_id), match_key(self.doc_id)


def tasks_key(tasks: Sequence[Task]) -> str:
    """A hash of the pairs and of the texts that are shown: what a file of answers is of."""
    digest = hashlib.sha256(b"relgate label 1")
    for task in tasks:
        digest.update(_hash("\0".join((*task.pair, task.text_hash))).encode())
    return digest.hexdigest()[:16]


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
