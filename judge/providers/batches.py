"""What a provider's batch API is to us, whoever the provider: files in, states, files out.

Importing this loads no SDK.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import BinaryIO, Protocol

from relgate.judge.providers.replay import WireAnswer, WireCall
from relgate.judge.types import Usage

__all__ = [
    "BatchLimits",
    "BatchLine",
    "BatchState",
    "Batches",
    "RemoteBatch",
]


class BatchState(StrEnum):
    """How far a batch is, in words for both providers."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    FAILED = "failed"

    @property
    def ended(self) -> bool:
        """Whether nothing more will come of it."""
        return self not in {BatchState.WAITING, BatchState.RUNNING}


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """The most that goes into one batch.

    Attributes:
        requests: None where the provider states none.
        bytes: of its input file.
    """

    requests: int | None
    bytes: int


@dataclass(frozen=True, slots=True)
class RemoteBatch:
    """A batch as the provider tells of it.

    Attributes:
        id: the provider's name for it.
        state: how far it is.
        word: the provider's own word for that.
        results: names of the files that hold answers; none before it ended.
        message: why it failed, as far as the provider says.
        queue_full: it failed only because too much was queued: later it may pass.
        done: requests answered so far, where the provider counts.
    """

    id: str
    state: BatchState
    word: str
    results: tuple[str, ...] = ()
    message: str | None = None
    queue_full: bool = False
    done: int | None = None


@dataclass(frozen=True, slots=True)
class BatchLine:
    """One line of a results file.

    Attributes:
        key: which request it answers.
        answer: the response; None for one that was never made (the batch expired).
        usage: tokens as the provider counted them.
        said: why there is none, in the provider's words.
    """

    key: str
    answer: WireAnswer | None
    usage: Usage
    said: str = ""


class Batches(Protocol):
    """A provider's batch API. Every method that calls it raises `CallError`."""

    @property
    def limits(self) -> BatchLimits:
        """The most that goes into one batch."""
        ...

    def line(self, call: WireCall, /) -> bytes:
        """The line of an input file that asks `call`, its end included."""
        ...

    def key_of(self, line: bytes, /) -> str:
        """The key of the request that `line`, from `line()`, asks."""
        ...

    def read(self, line: bytes, /) -> BatchLine | None:
        """A line of a results file; None for one that cannot be read."""
        ...

    async def upload(self, file: BinaryIO, /, *, label: str) -> str:
        """Uploads an input file; its name at the provider."""
        ...

    async def create(self, file_id: str, /, *, label: str, model: str) -> RemoteBatch:
        """Has a batch made of an uploaded file. From here on it costs money."""
        ...

    async def find(self, label: str, /) -> RemoteBatch | None:
        """The batch that was made under `label`, if there is one."""
        ...

    async def get(self, batch_id: str, /) -> RemoteBatch:
        """How far a batch is."""
        ...

    async def cancel(self, batch_id: str, /) -> None:
        """Asks for a batch to be ended."""
        ...

    async def download(self, file_id: str, into: BinaryIO, /) -> None:
        """Writes a results file to `into`."""
        ...
