"""Moves a job's batches on at the provider: submits, looks, fetches, cancels. I/O.

No batch is submitted twice. Before a batch is made, that is written down; whoever finds it written
asks the provider for a batch of that label before making one, also after an answer that was lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, TypeVar

from relgate.eval.batch.answers import tally
from relgate.eval.batch.state import Job, Part
from relgate.eval.files import new_file
from relgate.judge.providers.batches import Batches, BatchState, RemoteBatch
from relgate.judge.types import CallError, GradeError
from relgate.rubrics.errors import PlatformError, ProviderUnavailableError

__all__ = ["Driver", "Patience"]

R = TypeVar("R")

_TRIES: Final = 4
_LOST: Final = "HTTP 404"
_REFUSED: Final = "HTTP 4"


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait for a provider.

    Attributes:
        first_wait_s: before a call is made again; doubles each time.
        looks: how often to look for a batch that may have been made, before it is made again: a
            list may lag behind.
    """

    first_wait_s: float = 1.0
    looks: int = 5


class Driver:
    """Works at one job, which nobody else may do meanwhile (see `alone`).

    Args:
        job: the job.
        batches: the provider.
        now: the time.
        tell: told what a user should know, a line each.
        patience: how long to wait.
    """

    def __init__(
        self,
        job: Job,
        batches: Batches,
        *,
        now: Callable[[], datetime],
        tell: Callable[[str], None],
        patience: Patience,
    ) -> None:
        self._job = job
        self._batches = batches
        self._now = now
        self._tell = tell
        self._patience = patience
        self._done: dict[int, int] = {}

    @property
    def answered(self) -> tuple[int, int]:
        """Requests answered in the batches under way, as far as the provider counts, of all."""
        under_way = self._job.state.under_way
        done = sum(self._done.get(part.number, 0) for part in under_way)
        return done, sum(part.requests for part in under_way)

    async def submit(self) -> None:
        """Submits what is planned, and what an earlier run left half-submitted.

        A provider that takes no more for now leaves the rest planned; that is told.

        Raises:
            ProviderUnavailableError: the provider refuses, or cannot be reached.
        """
        waiting = [p for p in self._job.state.under_way if p.step != "submitted"]
        for done, part in enumerate(waiting):
            try:
                await self._submit(part)
            except CallError as error:
                taken = sum(p.step == "submitted" for p in self._job.state.parts)
                if error.kind is GradeError.RATE_LIMITED and not error.fatal and taken:
                    self._tell(
                        f"{len(waiting) - done} batches wait, for the provider takes no more now: "
                        f"{error.message}"
                    )
                    return
                raise _unavailable(error, part) from None

    async def look(self) -> list[Part]:
        """Asks how the submitted batches are, fetches what has ended; the batches that did.

        Raises:
            ProviderUnavailableError: the provider refuses, or cannot be reached.
        """
        ended: list[Part] = []
        for part in self._job.state.parts:
            if part.step == "submitted":
                try:
                    remote = await self._remote(part)
                    self._done[part.number] = remote.done or 0
                    if remote.state.ended:
                        ended.append(await self._end(part, remote))
                except CallError as error:
                    raise _unavailable(error, part) from None
        return ended

    async def _remote(self, part: Part) -> RemoteBatch:
        batch_id = part.batch_id or ""
        return await self._tried(lambda: self._batches.get(batch_id))

    async def cancel(self) -> int:
        """Ends what is under way, as far as the provider does; how many were asked to end.

        Batches not yet submitted, and those that the provider knows no more, are given up. One
        that may have been made is looked for first.

        Raises:
            ProviderUnavailableError: the provider refuses, or cannot be reached.
        """
        asked = 0
        for part in self._job.state.under_way:
            try:
                asked += await self._cancel(part)
            except CallError as error:
                if _LOST not in error.message:
                    raise _unavailable(error, part) from None
                self._give_up(part)
        return asked

    def _give_up(self, part: Part) -> None:
        self._job.change(part, step="ended", state=BatchState.FAILED, message="given up")

    async def _cancel(self, part: Part) -> bool:
        if part.step == "creating":
            part = await self._adopted(part) or part
        if part.step != "submitted":
            self._give_up(part)
            return False
        batch_id = part.batch_id or ""
        if (await self._remote(part)).state.ended:
            return False  # `collect` fetches what it answered
        await self._tried(lambda: self._batches.cancel(batch_id))
        return True

    async def _submit(self, part: Part) -> Part:
        if part.step == "creating":
            adopted = await self._adopted(part)
            if adopted is not None:
                return adopted
        if part.file_id is None:
            part = self._job.change(part, step="uploading", since=self._stamp())
            file_id = await self._tried(lambda: self._upload(part))
            part = self._job.change(part, file_id=file_id)
        return await self._create(part)

    async def _upload(self, part: Part) -> str:
        with self._job.path(part.requests_name).open("rb") as file:
            return await self._batches.upload(file, label=part.label)

    async def _create(self, part: Part) -> Part:
        """Makes the batch; a call whose answer is lost may have made it, so it is looked for."""
        wait_s = self._patience.first_wait_s
        for attempt in range(1, _TRIES + 1):
            part = self._job.change(part, step="creating", since=self._stamp())
            try:
                remote = await self._batches.create(
                    part.file_id or "", label=part.label, model=self._job.state.model
                )
            except CallError as error:
                if _may_have_worked(error):
                    adopted = await self._adopted(part)
                    if adopted is not None:
                        return adopted
                else:  # it did not
                    part = self._job.change(part, step="uploading")
                if attempt == _TRIES or not error.retry:
                    raise
                await asyncio.sleep(_pause_s(error, wait_s))
                wait_s *= 2
            else:
                return self._submitted(part, remote)
        raise AssertionError("unreachable")

    async def _adopted(self, part: Part) -> Part | None:
        """The batch that an earlier call made, taken over; None when it made none."""
        age_s = (self._now() - datetime.fromisoformat(part.since)).total_seconds()
        looks = self._patience.looks if age_s < 600 else 1  # noqa: PLR2004 - lists lag seconds
        wait_s = self._patience.first_wait_s
        for look in range(looks):
            if look:
                await asyncio.sleep(wait_s)
                wait_s *= 2
            found = await self._tried(lambda: self._batches.find(part.label))
            if found is not None:
                self._tell(f"batch {part.number} was made already: {found.id}")
                return self._submitted(part, found)
        return None

    def _submitted(self, part: Part, remote: RemoteBatch) -> Part:
        return self._job.change(
            part, step="submitted", since=self._stamp(), batch_id=remote.id, message=None
        )

    async def _end(self, part: Part, remote: RemoteBatch) -> Part:
        """Takes in how a batch ended, with its results on disk first."""
        if remote.state is BatchState.FAILED and remote.queue_full:
            return self._replanned(part, remote)
        got = 0
        for file_id in remote.results:
            got += await self._fetched(part, file_id, got)
        part = part.model_copy(update={"results": got})
        counts = tally(self._job, part, self._batches)
        if counts.unreadable:
            self._tell(f"batch {part.number}: {counts.unreadable:,} lines cannot be read")
        part = self._job.change(
            part,
            step="ended",
            since=self._stamp(),
            state=remote.state,
            message=remote.message,
            answered=counts.answered,
            failed=counts.failed,
            open=counts.open,
            prompt_tokens=counts.prompt_tokens,
            completion_tokens=counts.completion_tokens,
            uncounted=counts.uncounted,
        )
        self._halt(part, remote)
        return part

    def _replanned(self, part: Part, remote: RemoteBatch) -> Part:
        """Of a batch for which there was no room nothing was asked: it is sent again, later."""
        self._tell(f"batch {part.number} waits: {remote.message}")
        label = f"{part.label}r"  # the old one is the refused batch's
        return self._job.change(
            part, step="planned", since=self._stamp(), label=label, batch_id=None, file_id=None,
            message=remote.message,
        )  # fmt: skip

    def _halt(self, part: Part, remote: RemoteBatch) -> None:
        """Nothing more is sent after a batch that the provider found faulty, or somebody ended."""
        if remote.state is BatchState.FAILED:
            why = remote.message or "the provider gives no reason"
            self._job.save(halted=f"batch {part.number} ({remote.id}) failed: {why}")
        elif remote.state is BatchState.CANCELLED and self._job.state.halted is None:
            self._job.save(halted=f"batch {part.number} ({remote.id}) was cancelled")

    async def _fetched(self, part: Part, file_id: str, number: int) -> bool:
        """Fetches a results file; False for one that the provider has no more."""

        async def fetch() -> None:
            with new_file(self._job.path(part.results_name(number))) as into:
                await self._batches.download(file_id, into)

        try:
            await self._tried(fetch)
        except CallError as error:
            if _LOST not in error.message:
                raise
            self._tell(f"batch {part.number}: its results {file_id} are gone: {error.message}")
            return False
        return True

    async def _tried(self, call: Callable[[], Awaitable[R]]) -> R:
        """What may be asked more than once: again after a failure that may pass."""
        wait_s = self._patience.first_wait_s
        for _ in range(_TRIES - 1):
            try:
                return await call()
            except CallError as error:
                if not error.retry:
                    raise
                await asyncio.sleep(_pause_s(error, wait_s))
                wait_s *= 2
        return await call()

    def _stamp(self) -> str:
        return self._now().astimezone(UTC).isoformat(timespec="seconds")


def _may_have_worked(error: CallError) -> bool:
    """Whether the provider may have done what it was asked for: all but a plain refusal."""
    refused = not error.retry and _REFUSED in error.message
    return not refused and error.kind is not GradeError.RATE_LIMITED


def _pause_s(error: CallError, wait_s: float) -> float:
    return min(max(error.retry_after_s or 0.0, wait_s), 60.0)


def _unavailable(error: CallError, part: Part) -> PlatformError:
    what = f"batch {part.number} ({part.batch_id or 'not submitted'})"
    if part.batch_id is not None and _LOST in error.message:
        return ProviderUnavailableError(
            f"{what}: {error.message}; is it the same account? relgate batch cancel gives it up"
        )
    return ProviderUnavailableError(
        f"{what}: {error.message}; run it again later: nothing is lost or submitted twice"
    )
