"""The requests of a job: what was answered, what is under way, what to send next. I/O.

What has no answer goes into the input file of the next batch, up to the provider's limits and the
job's budget. Files are complete on disk before the state names them; what a crash leaves is written
over.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import BinaryIO

from relgate.eval.batch.answers import Answers
from relgate.eval.batch.state import Job, Part
from relgate.eval.files import new_file
from relgate.judge.prices import Price, cost_usd
from relgate.judge.providers.batches import Batches, BatchState
from relgate.judge.providers.replay import WireAnswer, WireCall
from relgate.judge.tokens import TokenRange, reply_tokens, token_range
from relgate.judge.types import GenerateRequest
from relgate.rubrics.errors import UsageError

__all__ = ["Book", "most_usd", "spent_usd"]


@dataclass(slots=True)
class _Draft:
    """An input file in the making."""

    number: int
    file: BinaryIO
    requests: int = 0
    bytes: int = 0
    most: TokenRange = field(default_factory=lambda: TokenRange(0, 0))
    back: TokenRange = field(default_factory=lambda: TokenRange(0, 0))


class Book:
    """The `RequestBook` of a job.

    Args:
        job: the job.
        batches: the provider.
        price: of a call in a batch; None when unknown.
        now: the time, ISO 8601.
    """

    def __init__(
        self, job: Job, batches: Batches, *, price: Price | None, now: Callable[[], str]
    ) -> None:
        self._job = job
        self._batches = batches
        self._price = price
        self._now = now
        self._open = ExitStack()
        self._drafts: list[_Draft] = []
        self._wanted: set[str] = set()
        self.answers = Answers(job, batches)
        self.refused: str | None = None

    @property
    def wanted(self) -> int:
        """Requests noted and not yet sealed."""
        return len(self._wanted)

    def answer(self, call: WireCall, /) -> WireAnswer:
        """See `RequestBook.answer`."""
        return self.answers.answer(call)

    def want(self, call: WireCall, request: GenerateRequest, /) -> str:
        """See `RequestBook.want`; once a request would break the budget, no more are taken."""
        key = call.key
        if key in self.answers.waiting:
            return f"waits for batch {self.answers.waiting[key]} of job {self._job.state.id}"
        if key in self._wanted:
            return "goes into the next batch"
        sent = token_range(request.system) + token_range(request.prompt)
        back = reply_tokens(request.candidates)
        refusal = self._job.state.halted or self.refused or self._over(sent, back)
        if refusal is not None:
            self.refused = refusal
            return refusal
        line = self._batches.line(call)
        draft = self._draft_for(len(line))
        draft.file.write(line)
        draft.requests += 1
        draft.bytes += len(line)
        draft.most += sent
        draft.back += back
        self._wanted.add(key)
        return "goes into the next batch"

    def seal(self) -> list[Part]:
        """Ends the files in the making; the batches that they will be, planned on disk.

        Raises:
            PlatformError: they cannot be written; nothing is planned then.
        """
        self._open.close()
        drafts, self._drafts = self._drafts, []
        parts = [self._planned(draft) for draft in drafts]
        if parts:
            self._job.save(parts=(*self._job.state.parts, *parts))
        for part in parts:
            self.answers.add(part)
        self._wanted.clear()
        return parts

    def _planned(self, draft: _Draft) -> Part:
        return Part(
            number=draft.number,
            label=f"relgate-{self._job.state.id}-{draft.number}",
            requests=draft.requests,
            bytes=draft.bytes,
            prompt_most=draft.most.most,
            completion_most=draft.back.most,
            since=self._now(),
        )

    def _draft_for(self, size: int) -> _Draft:
        limits = self._batches.limits
        if size > limits.bytes:
            raise UsageError(f"one request has {size:,} bytes, more than a batch may have")
        if self._drafts:
            draft = self._drafts[-1]
            full = limits.requests is not None and draft.requests >= limits.requests
            if not full and draft.bytes + size <= limits.bytes:
                return draft
        number = len(self._job.state.parts) + len(self._drafts) + 1
        path = self._job.path(f"requests-{number:04}.jsonl")
        draft = _Draft(number, self._open.enter_context(new_file(path)))
        self._drafts.append(draft)
        return draft

    def _over(self, sent: TokenRange, back: TokenRange) -> str | None:
        """Why the budget does not allow one more request; None while it does."""
        state = self._job.state
        if state.max_calls is not None and state.sent + self.wanted >= state.max_calls:
            return f"the limit of {state.max_calls} calls is reached"
        if state.max_cost is None or self._price is None:
            return None
        held = sum(most_usd(part, self._price) for part in state.parts)
        for draft in self._drafts:
            sent, back = sent + draft.most, back + draft.back
        most = cost_usd(self._price, prompt_tokens=sent.most, completion_tokens=back.most)
        if held + most <= state.max_cost:
            return None
        return (
            f"the next request may break the cost limit of {state.max_cost:g} USD "
            f"({held:.4f} USD spent or under way)"
        )


def spent_usd(part: Part, price: Price) -> float:
    """What a batch has cost, by the provider's count; the most where it did not count."""
    if part.step != "ended" or part.state is BatchState.FAILED:
        return 0.0
    counted = cost_usd(
        price, prompt_tokens=part.prompt_tokens, completion_tokens=part.completion_tokens
    )
    return counted + _planned_usd(part, price) * part.uncounted / max(part.requests, 1)


def most_usd(part: Part, price: Price) -> float:
    """What a batch has cost, or may still cost."""
    return spent_usd(part, price) if part.step == "ended" else _planned_usd(part, price)


def _planned_usd(part: Part, price: Price) -> float:
    return cost_usd(price, prompt_tokens=part.prompt_most, completion_tokens=part.completion_most)
