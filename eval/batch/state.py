"""A job as it stands on disk: one JSON file, written whole or not at all. I/O.

The state is what makes "nothing is submitted twice" hold: what is about to be done is written
before it is done, so that whoever starts again knows what may have happened.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from relgate.eval.files import read_text, write_text_atomic
from relgate.eval.project import first_problem
from relgate.judge.providers.batches import BatchState
from relgate.rubrics.errors import InputError, PlatformError

__all__ = ["DEFAULT_ROOT", "Job", "JobState", "Part", "PartStep", "alone", "read_jobs"]

DEFAULT_ROOT = Path(".relgate/batches")
"""Where jobs are kept."""

_FILE = "state.json"
_Count = Annotated[int, Field(ge=0)]

PartStep = Literal["planned", "uploading", "creating", "submitted", "ended"]
"""`uploading` and `creating` are written before the call: it may have been made or not."""


class Part(BaseModel):
    """One batch of a job, and its two files beside the state.

    Attributes:
        number: from 1; it names the files.
        label: our own name for it at the provider: it tells whether a batch was made.
        requests: how many it asks.
        bytes: of its input file.
        prompt_most: the most tokens that it may send.
        completion_most: the most that may come back, thinking not included.
        step: how far it is with us.
        since: when that step was written, ISO 8601.
        file_id: the input file at the provider.
        batch_id: the batch at the provider.
        state: how the batch ended.
        message: why it failed, in the provider's words.
        results: how many results files it has here.
        answered: requests with an answer.
        failed: requests whose answer is an error that will not pass.
        open: requests without an answer: expired, cancelled, lost, or an error that may pass.
        prompt_tokens: sent, as the provider counted them.
        completion_tokens: come back, likewise.
        uncounted: answers without a count of tokens.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    number: Annotated[int, Field(ge=1)]
    label: str
    requests: _Count
    bytes: _Count
    prompt_most: _Count
    completion_most: _Count
    step: PartStep = "planned"
    since: str
    file_id: str | None = None
    batch_id: str | None = None
    state: BatchState | None = None
    message: str | None = None
    results: _Count = 0
    answered: _Count = 0
    failed: _Count = 0
    open: _Count = 0
    prompt_tokens: _Count = 0
    completion_tokens: _Count = 0
    uncounted: _Count = 0

    @property
    def requests_name(self) -> str:
        """Its input file."""
        return f"requests-{self.number:04}.jsonl"

    def results_name(self, number: int) -> str:
        """A results file, from 0."""
        return f"results-{self.number:04}-{number}.jsonl"


class JobState(BaseModel):
    """One job: what one judge was asked through batches.

    Attributes:
        format: of this file.
        id: the folder's name.
        judge: as the command line names it.
        model: the model asked for.
        version: the judge's version.
        fingerprint: the judge's fingerprint: the job can only be read by that very judge.
        created_at: ISO 8601.
        relgate: the version that made it.
        settings: the project's, to open the judge again.
        overrides: honesty rules overridden by name.
        max_cost: US dollars that the job may cost; None for no limit.
        max_calls: requests that it may send; None for no limit.
        halted: why nothing more is sent until somebody asks for it; None while it goes on.
        closed: whether everything was collected.
        parts: its batches.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal[1] = 1
    id: str
    judge: str
    model: str
    version: str
    fingerprint: str
    created_at: str
    relgate: str
    settings: dict[str, Any]
    overrides: tuple[str, ...] = ()
    max_cost: float | None = None
    max_calls: int | None = None
    halted: str | None = None
    closed: bool = False
    parts: tuple[Part, ...] = ()

    @property
    def under_way(self) -> tuple[Part, ...]:
        """Batches that are not at their end, planned ones included."""
        return tuple(part for part in self.parts if part.step != "ended")

    @property
    def sent(self) -> int:
        """Requests that were asked in batches that the provider took."""
        return sum(p.requests for p in self.parts if p.state is not BatchState.FAILED)


class Job:
    """A job's folder, and its state in memory, which is the one on disk."""

    def __init__(self, folder: Path, state: JobState) -> None:
        self.folder = folder
        self.state = state

    @classmethod
    def read(cls, folder: Path) -> Self:
        """The job in `folder`.

        Raises:
            InputError: no such job, or its state cannot be read.
        """
        path = folder / _FILE
        if not path.is_file():
            raise InputError("there is no such job", path=path, mend="see relgate batch status")
        try:
            state = JobState.model_validate_json(read_text(path))
        except ValidationError as error:
            raise first_problem(error, JobState.model_fields, path) from None
        return cls(folder, state)

    def save(self, **changes: object) -> None:
        """Changes fields of the state, on disk before it returns.

        Raises:
            PlatformError: it cannot be written; the state is the old one.
        """
        state = self.state.model_copy(update=changes)
        text = state.model_dump_json(indent=1)
        write_text_atomic(self.folder / _FILE, text + "\n")
        self.state = state

    def put(self, part: Part) -> Part:
        """Adds a batch, or replaces the one of its number, on disk before it returns."""
        others = [p for p in self.state.parts if p.number != part.number]
        self.save(parts=tuple(sorted([*others, part], key=lambda p: p.number)))
        return part

    def change(self, part: Part, **changes: object) -> Part:
        """Changes fields of a batch, on disk before it returns."""
        return self.put(part.model_copy(update=changes))

    def path(self, name: str) -> Path:
        """A file beside the state."""
        return self.folder / name


def read_jobs(root: Path) -> list[Job]:
    """The jobs under `root`, oldest first; none when there is no such folder."""
    found = [Job.read(path.parent) for path in sorted(root.glob(f"*/{_FILE}"))]
    return sorted(found, key=lambda job: (job.state.created_at, job.state.id))


@contextmanager
def alone(root: Path, fingerprint: str) -> Generator[None]:
    """Nobody else works at the jobs of this judge meanwhile.

    Raises:
        PlatformError: somebody does, or the folder cannot be written.
    """
    path = root / f"{fingerprint}.lock"
    try:
        root.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise PlatformError(
            f"{path}: cannot be made: {error.strerror}; check the folder"
        ) from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise PlatformError(
                f"{path}: another relgate works at this judge's batches; wait for it, or stop it "
                "with Ctrl-C, which loses nothing"
            ) from error
        yield
    finally:
        os.close(handle)
