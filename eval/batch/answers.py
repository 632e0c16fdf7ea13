"""What the batches of a job answered so far, found by request. I/O: reads.

In memory is one entry a request; the answers stay on disk.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from relgate.eval.batch.state import Job, Part
from relgate.judge.providers.batches import Batches, BatchLine, BatchState
from relgate.judge.providers.failures import status_failure
from relgate.judge.providers.replay import UnansweredError, WireAnswer, WireCall
from relgate.judge.types import CallError, GradeError
from relgate.rubrics.errors import PlatformError

__all__ = ["MOST_TRIES", "Answers", "PartTally", "tally"]

MOST_TRIES: Final = 4
"""Batches that a request goes into before its failure stands, as a live call has four tries."""

_Place = tuple[Path, int, int]


@dataclass(frozen=True, slots=True)
class PartTally:
    """What the results of one batch come to.

    Attributes:
        answered: requests with an answer.
        failed: requests whose answer is an error that will not pass.
        open: requests without an answer.
        unreadable: lines that could not be read.
        prompt_tokens: as the provider counted them.
        completion_tokens: likewise.
        uncounted: answers without a count.
    """

    answered: int
    failed: int
    open: int
    unreadable: int
    prompt_tokens: int
    completion_tokens: int
    uncounted: int


def tally(job: Job, part: Part, batches: Batches) -> PartTally:
    """Counts the results of a batch, each request once."""
    left = set(keys_of(job, part, batches))
    total, count, unreadable = len(left), Counter[str](), 0
    for _, line in _lines(job, part, batches):
        if line is None:
            unreadable += 1
        elif line.key in left and _stands(line):
            left.discard(line.key)
            good = line.answer is not None and line.answer.status < 300  # noqa: PLR2004 - HTTP
            count["answered" if good else "failed"] += 1
            count["prompt"] += line.usage.prompt_tokens or 0
            count["completion"] += line.usage.completion_tokens or 0
            count["uncounted"] += (
                line.usage.prompt_tokens is None or line.usage.completion_tokens is None
            )
    return PartTally(
        answered=count["answered"],
        failed=count["failed"],
        open=total - count["answered"] - count["failed"],
        unreadable=unreadable,
        prompt_tokens=count["prompt"],
        completion_tokens=count["completion"],
        uncounted=count["uncounted"],
    )


def keys_of(job: Job, part: Part, batches: Batches) -> Iterator[str]:
    """The requests of a batch.

    Raises:
        PlatformError: its file is gone or damaged.
    """
    path = job.path(part.requests_name)
    try:
        with path.open("rb") as file:
            for line in file:
                yield batches.key_of(line)
    except (OSError, ValueError, KeyError) as error:
        raise PlatformError(f"{path}: cannot be read: {error}; the job is damaged") from error


class Answers:
    """The answers of a job's batches; see `add`."""

    def __init__(self, job: Job, batches: Batches) -> None:
        self._job = job
        self._batches = batches
        self._places: dict[str, _Place] = {}
        self._tries: Counter[str] = Counter()
        self._failures: dict[str, BatchLine] = {}
        self.waiting: dict[str, int] = {}

    def load(self) -> None:
        """Reads what all batches of the job hold."""
        for part in self._job.state.parts:
            self.add(part)

    def add(self, part: Part) -> None:
        """Takes in a batch: what it answered where it ended, what it asks where it did not.

        Of a batch that failed as a whole nothing was asked.
        """
        keys = set(keys_of(self._job, part, self._batches))
        if part.step != "ended":
            self.waiting.update(dict.fromkeys(keys, part.number))
            return
        for key in keys:
            self.waiting.pop(key, None)
        if part.state is BatchState.FAILED:
            return
        for place, line in _lines(self._job, part, self._batches):
            if line is None or line.key not in keys:
                continue
            if _stands(line):
                self._places.setdefault(line.key, place)
            else:
                self._failures[line.key] = line
        self._tries.update(key for key in keys if key not in self._places)

    def answer(self, call: WireCall) -> WireAnswer:
        """The answer to `call`.

        Raises:
            UnansweredError: there is none yet.
            CallError: it failed so often that it stays so.
        """
        key = call.key
        place = self._places.get(key)
        if place is not None:
            line = self._batches.read(_at(place))
            if line is not None and line.answer is not None:
                return line.answer
        if self._tries[key] < MOST_TRIES:
            raise UnansweredError(call)
        failure = self._failures.get(key)
        if failure is not None and failure.answer is not None:
            return failure.answer
        said = "no line in the results" if failure is None else failure.said
        raise CallError(GradeError.TIMEOUT, f"no answer from {MOST_TRIES} batches: {said}")


def _stands(line: BatchLine) -> bool:
    """Whether the line settles its request: an answer, or an error that will not pass."""
    if line.answer is None:
        return False
    status = line.answer.status
    if status < 300:  # noqa: PLR2004 - HTTP
        return True
    return not status_failure(status, message=line.answer.body.decode("utf-8", "replace")).retry


def _lines(job: Job, part: Part, batches: Batches) -> Iterator[tuple[_Place, BatchLine | None]]:
    for path in _result_paths(job, part):
        begin = 0
        with path.open("rb") as file:
            for line in file:
                if not line.isspace():
                    yield (path, begin, len(line)), batches.read(line)
                begin += len(line)


def _result_paths(job: Job, part: Part) -> Iterable[Path]:
    return (job.path(part.results_name(number)) for number in range(part.results))


def _at(place: _Place) -> bytes:
    path, begin, length = place
    with path.open("rb") as file:
        file.seek(begin)
        return file.read(length)
