"""The file of answers: what it is of, and a line an answer. I/O."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from pydantic import TypeAdapter, ValidationError

from relgate.eval.appended import Answers, AppendedFile, read_answers
from relgate.eval.label.types import Answer
from relgate.rubrics.errors import InputError

__all__ = ["KIND", "AnswerFile", "Head", "Kept", "read_kept"]

KIND = "relgate labels 1"

_ANSWER: TypeAdapter[Answer] = TypeAdapter(Answer)


@dataclass(frozen=True, slots=True)
class Head:
    """What answers are of.

    Attributes:
        kind: `KIND`.
        key: as `tasks_key`: the pairs, and the texts that are shown.
        pairs: how many.
        rubric: the version of the rubric that is shown.
        max_grade: its best grade; the least is 0.
    """

    kind: str
    key: str
    pairs: int
    rubric: str
    max_grade: int


@dataclass(frozen=True, slots=True)
class Kept:
    """A file of answers that was read.

    Attributes:
        head: what they are of.
        answers: in the order in which they were given.
        torn: bytes of a last line that was cut short, and never acknowledged; 0 for none.
    """

    head: Head
    answers: tuple[Answer, ...]
    torn: int


def read_kept(path: Path) -> Kept:
    """A file of answers; it is not changed.

    Raises:
        InputError: no such file, or a whole line that is no answer.
    """
    found = read_answers(path, kind=KIND)
    try:
        head = TypeAdapter(Head).validate_python(found.head)
    except ValidationError as error:
        what = f"no head of answers: {error.errors()[0]['msg']}"
        raise InputError(what, path=path, line=1, mend="check the file") from None
    return Kept(head, _answers(found), found.torn)


class AnswerFile:
    """The one writer of a file of answers.

    Raises:
        InputError: the file holds answers on other pairs, or a line that is no answer.
        UsageError: another process writes to it.
        PlatformError: the disk or the permissions are at fault.
    """

    def __init__(self, path: Path, head: Head) -> None:
        self.path = path
        self._file = AppendedFile(path, asdict(head))
        try:
            self.kept = Kept(head, _answers(self._file.found), self._file.found.torn)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, answer: Answer) -> None:
        """Keeps an answer; it is on disk when this returns.

        Raises:
            PlatformError: it could not be written; nothing of it is left in the file.
        """
        self._file.add({k: v for k, v in asdict(answer).items() if v not in (None, "")})


def _answers(found: Answers) -> tuple[Answer, ...]:
    answers: list[Answer] = []
    for line, row in found.rows:
        try:
            answers.append(_ANSWER.validate_python({"query": None, **row}))
        except ValidationError as error:
            first = error.errors()[0]
            what = f"no answer: {'.'.join(map(str, first['loc']))}: {first['msg']}"
            raise InputError(what, path=found.path, line=line, mend="remove the line") from None
    return tuple(answers)
