"""Calls to a model: at most so many at once, one retry layer, one deadline, an early stop. I/O.

Retries live here and nowhere else: the adapters switch the SDKs' own off. What a reply lacks is
asked for again in smaller batches, never the same batch once more, and no prompt grows.
"""

from __future__ import annotations

import asyncio
import inspect
import random
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from relgate.judge.types import CallError, Generate, GenerateReply, GenerateRequest, GradeError

__all__ = ["CallEngine", "CallPolicy", "CallStats"]


@dataclass(frozen=True, slots=True)
class CallPolicy:
    """How calls are made.

    Attributes:
        concurrency: calls under way at once.
        attempts: tries for one call, the first included.
        deadline_s: total seconds for one call with all its tries; always finite.
        backoff_s: wait before the second try; doubles, with jitter, up to `max_backoff_s`.
        max_backoff_s: longest wait of our own choosing.
        max_retry_after_s: longest wait that a server may ask for; beyond it the run stops.
        stop_after_failures: failed calls in a row that stop the run.
    """

    concurrency: int = 8
    attempts: int = 3
    deadline_s: float = 120.0
    backoff_s: float = 0.5
    max_backoff_s: float = 8.0
    max_retry_after_s: float = 120.0
    stop_after_failures: int = 20


@dataclass(slots=True)
class CallStats:
    """What has been spent so far; grows while calls are made.

    Attributes:
        calls: requests sent, retries included.
        failed_calls: requests that brought no reply.
        prompt_tokens: as the provider counted them; 0 where it did not say.
        completion_tokens: likewise.
        unknown_ids: rows that named a candidate nobody asked about.
        models: model snapshots that really answered.
    """

    calls: int = 0
    failed_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    unknown_ids: int = 0
    models: set[str] = field(default_factory=set[str])


class CallEngine:
    """Makes single calls through the user's `generate`.

    Args:
        generate: the way to the model, sync or async.
        policy: limits.
        jitter: returns a factor in [0, 1); replaced in tests.
    """

    def __init__(
        self,
        generate: Generate,
        policy: CallPolicy,
        *,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.policy = policy
        self.stats = CallStats()
        self.stopped: CallError | None = None
        self._generate = generate
        self._jitter = jitter
        self._failures_in_row = 0
        self._slots: tuple[asyncio.AbstractEventLoop, asyncio.Semaphore] | None = None

    async def call(self, request: GenerateRequest) -> GenerateReply:
        """One reply.

        Raises:
            CallError: after the last try, at the deadline, or at once when the run has stopped.
        """
        async with self._slot():
            if self.stopped is not None:
                raise self.stopped
            try:
                async with asyncio.timeout(self.policy.deadline_s):
                    reply = await self._tries(request)
            except TimeoutError:
                error = CallError(
                    GradeError.TIMEOUT, f"no reply within {self.policy.deadline_s:g} s"
                )
                self._failed(error)
                raise error from None
            self._failures_in_row = 0
            return reply

    def _slot(self) -> asyncio.Semaphore:
        """The limit on calls under way, one for each event loop that comes along."""
        loop = asyncio.get_running_loop()
        if self._slots is None or self._slots[0] is not loop:
            self._slots = (loop, asyncio.Semaphore(self.policy.concurrency))
        return self._slots[1]

    async def _tries(self, request: GenerateRequest) -> GenerateReply:
        for attempt in range(1, self.policy.attempts + 1):
            try:
                return await self._once(request)
            except CallError as error:
                if not error.retry or error.fatal or attempt == self.policy.attempts:
                    self._failed(error)
                    raise
                await self._wait(error, attempt)
        raise AssertionError("attempts is at least 1")

    async def _wait(self, error: CallError, attempt: int) -> None:
        asked = error.retry_after_s
        if asked is not None and asked > self.policy.max_retry_after_s:
            stop = CallError(
                error.kind,
                f"the server asks to wait {asked:g} s, longer than the "
                f"{self.policy.max_retry_after_s:g} s allowed; run again later: what is graded is "
                "kept",
                fatal=True,
                retry_after_s=asked,
            )
            self._failed(stop)
            raise stop
        own = min(self.policy.backoff_s * 2 ** (attempt - 1), self.policy.max_backoff_s)
        await asyncio.sleep(max(asked or 0.0, own * (0.75 + 0.25 * self._jitter())))

    async def _once(self, request: GenerateRequest) -> GenerateReply:
        self.stats.calls += 1
        try:
            reply = _as_reply(await self._invoke(request))
        except CallError:
            self.stats.failed_calls += 1
            raise
        except (TimeoutError, OSError) as error:
            self.stats.failed_calls += 1
            kind = GradeError.TIMEOUT if isinstance(error, TimeoutError) else GradeError.PROVIDER
            raise CallError(kind, _describe(error), retry=True) from error
        except Exception as error:
            # The user's own generate may raise anything, and grading never raises.
            self.stats.failed_calls += 1
            raise CallError(GradeError.PROVIDER, _describe(error)) from error
        self.stats.prompt_tokens += reply.usage.prompt_tokens or 0
        self.stats.completion_tokens += reply.usage.completion_tokens or 0
        if reply.model:
            self.stats.models.add(reply.model)
        return reply

    async def _invoke(self, request: GenerateRequest) -> Any:  # noqa: ANN401 - user's own value
        if _is_async(self._generate):
            return await self._generate(request)  # type: ignore[misc]
        result = await _in_daemon_thread(self._generate, request)
        return await result if inspect.isawaitable(result) else result

    def _failed(self, error: CallError) -> None:
        self._failures_in_row += 1
        if self.stopped is not None:
            return
        if error.fatal:
            self.stopped = error
        elif self._failures_in_row >= self.policy.stop_after_failures:
            self.stopped = CallError(
                error.kind,
                f"stopped after {self._failures_in_row} failed calls in a row; the last: "
                f"{error.message}",
                fatal=True,
            )


def _is_async(generate: object) -> bool:
    return inspect.iscoroutinefunction(generate) or inspect.iscoroutinefunction(
        getattr(generate, "__call__", None)  # noqa: B004 - an object's own async __call__
    )


def _describe(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def _as_reply(value: object) -> GenerateReply:
    if isinstance(value, GenerateReply):
        return value
    if isinstance(value, str):
        return GenerateReply(text=value)
    if isinstance(value, Mapping | list):
        return GenerateReply(data=value)
    raise TypeError(f"generate returned {type(value).__name__}, not text, a dict or GenerateReply")


async def _in_daemon_thread(function: Callable[..., Any], *args: object) -> Any:  # noqa: ANN401
    """Runs a blocking call in a daemon thread: one that hangs cannot hold the process's exit."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def settle(set_it: Callable[[Any], None], value: object) -> None:
        if not future.done():
            set_it(value)

    def report(set_it: Callable[[Any], None], value: object) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, set_it, value)

    def run() -> None:
        try:
            value = function(*args)
        except BaseException as error:  # noqa: BLE001 - handed to the awaiting side
            report(future.set_exception, error)
        else:
            report(future.set_result, value)

    threading.Thread(target=run, daemon=True, name="relgate-generate").start()
    return await future
