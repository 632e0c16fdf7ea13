"""What raters may do, and what becomes of it: each answer is on disk before it is told. I/O."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from relgate.eval.label.answers import AnswerFile
from relgate.eval.label.board import Board
from relgate.eval.label.types import (
    MAX_NAME_CHARS,
    MAX_NOTE_CHARS,
    SKIP_REASONS,
    Act,
    Answer,
    JudgeGrade,
    Task,
)
from relgate.rubrics import Rubric
from relgate.rubrics.errors import UsageError

__all__ = ["Desk", "Outcome", "rater_name"]

_JOINERS = "\u200c\u200d"


class Outcome(StrEnum):
    """What became of what a rater sent; the page says it in the rater's language."""

    SAVED = "saved"
    SKIPPED = "skipped"
    UNDONE = "undone"
    REVEALED = "revealed"
    ELSEWHERE = "elsewhere"
    """Another answer of this rater on the pair stands, from another tab; nothing was kept."""
    SEALED = "sealed"
    """The judge's grade was seen, so the answer stands."""
    NOTHING = "nothing"
    """There is no answer to take back or to compare."""

    @property
    def kept(self) -> bool:
        """Whether what was sent counts."""
        return self in {Outcome.SAVED, Outcome.SKIPPED, Outcome.UNDONE, Outcome.REVEALED}


@dataclass(frozen=True, slots=True)
class _Clock:
    now: Callable[[], str]
    running: Callable[[], float]


class Desk:
    """The pairs, the answers and the file they are kept in.

    Args:
        board: the answers so far.
        file: where each is kept.
        rubric: what the grades mean.
        judge: a judge's grades, that a rater may see after answering; empty for none.
        now: the time as ISO 8601, UTC.
        running: seconds of any clock that runs on.
    """

    def __init__(
        self,
        board: Board,
        file: AnswerFile,
        rubric: Rubric,
        *,
        judge: Mapping[tuple[str, str], JudgeGrade],
        now: Callable[[], str],
        running: Callable[[], float],
    ) -> None:
        self.board = board
        self.rubric = rubric
        self.judge = judge
        self._file = file
        self._clock = _Clock(now, running)
        board.take(file.kept.answers)

    def next_for(self, rater: str) -> Task | None:
        """The pair to show a rater, or None."""
        return self.board.next_for(rater, self._clock.running())

    def grade(self, rater: str, answer_id: str, key: str, grade: int, note: str) -> Outcome:
        """A grade. The same answer sent again counts once.

        Raises:
            UsageError: no such pair, or a grade that the rubric has not.
            PlatformError: it could not be kept.
        """
        if grade not in {label.grade for label in self.rubric.labels}:
            raise UsageError(f"grade {grade} is not one of {self.rubric.tag}")
        made = self._answer(rater, answer_id, key, Act.GRADE, note)
        return self._keep(replace(made, grade=grade), Outcome.SAVED)

    def skip(self, rater: str, answer_id: str, key: str, why: str, note: str) -> Outcome:
        """No grade, and why.

        Raises:
            UsageError: no such pair, or no such reason.
            PlatformError: it could not be kept.
        """
        if why not in SKIP_REASONS:
            raise UsageError(f"no reason {why!r} to skip; there are {', '.join(SKIP_REASONS)}")
        made = self._answer(rater, answer_id, key, Act.SKIP, note)
        return self._keep(replace(made, skip=why), Outcome.SKIPPED)

    def undo(self, rater: str, answer_id: str, of: str) -> Outcome:
        """Takes an answer back; its pair comes up again. One that is taken back already stays so.

        Raises:
            PlatformError: it could not be kept.
        """
        earlier = self._own(rater, of)
        if earlier is None:
            return Outcome.NOTHING
        if self.board.sealed(earlier):
            return Outcome.SEALED
        if earlier in self.board.answers(rater):
            self._add(self._about(earlier, answer_id, Act.UNDO))
        return Outcome.UNDONE

    def reveal(self, rater: str, answer_id: str, of: str) -> Outcome:
        """Notes that a rater sees the judge's grade on a pair that they answered.

        Raises:
            PlatformError: it could not be kept.
        """
        earlier = self._own(rater, of)
        if (
            earlier is None
            or earlier.pair not in self.judge
            or earlier not in self.board.answers(rater)
        ):
            return Outcome.NOTHING
        if not self.board.sealed(earlier):
            self._add(self._about(earlier, answer_id, Act.REVEAL))
        return Outcome.REVEALED

    def _own(self, rater: str, answer_id: str) -> Answer | None:
        found = self.board.known(answer_id)
        if found is None or found.rater != rater or found.act not in {Act.GRADE, Act.SKIP}:
            return None
        return found

    def _answer(self, rater: str, answer_id: str, key: str, act: Act, note: str) -> Answer:
        task = self.board.by_key.get(key)
        if task is None:
            raise UsageError("no such pair; load the page again")
        return Answer(
            id=answer_id,
            act=act,
            rater=rater,
            query_id=task.query.id,
            query=task.query.text,
            doc_id=task.doc_id,
            at=self._clock.now(),
            note=note.strip()[:MAX_NOTE_CHARS],
            text_hash=task.text_hash,
        )

    def _about(self, earlier: Answer, answer_id: str, act: Act) -> Answer:
        return Answer(
            id=answer_id,
            act=act,
            rater=earlier.rater,
            query_id=earlier.query_id,
            query=earlier.query,
            doc_id=earlier.doc_id,
            at=self._clock.now(),
            of=earlier.id,
        )

    def _keep(self, answer: Answer, done: Outcome) -> Outcome:
        if self.board.known(answer.id) is not None:
            return done
        standing = self.board.standing(answer.rater, self.board.tasks[answer.pair])
        if standing is None:
            self._add(answer)
            return done
        same = (standing.act, standing.grade) == (answer.act, answer.grade)
        return done if same else Outcome.ELSEWHERE

    def _add(self, answer: Answer) -> None:
        self._file.add(answer)
        self.board.take([answer])


def rater_name(text: str) -> str | None:
    """A name as it is kept: NFC, one line, outer and double blanks gone; None where it is none.

    Controls of direction are left out, since a page shows them as escapes.
    """
    composed = unicodedata.normalize("NFC", text)
    plain = "".join(c for c in composed if c in _JOINERS or unicodedata.category(c) != "Cf")
    name = " ".join("".join(" " if _is_control(c) else c for c in plain).split())
    return name if 0 < len(name) <= MAX_NAME_CHARS else None


def _is_control(char: str) -> bool:
    return unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"}
