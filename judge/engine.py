"""Calls to a model: limits, one retry layer under one deadline, a budget, an early stop. I/O.

Retries live here and nowhere else: the adapters switch the SDKs' own off. What a reply lacks is
asked for again in smaller batches (see `llm`), never the same batch once more.
"""

from __future__ import annotations

import asyncio
import inspect
import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from math import isfinite
from typing import Any

from relgate.judge.pace import Pace, Places
from relgate.judge.prices import Price, cost_usd
from relgate.judge.tokens import TokenRange, reply_tokens, token_range
from relgate.judge.types import CallError, Generate, GenerateReply, GenerateRequest, GradeError
from relgate.rubrics.errors import UsageError

__all__ = ["GO_ON", "CallEngine", "CallPolicy", "CallStats"]

GO_ON = "; run again to go on: what is graded is kept"
"""What a stop at a limit ends with; untrue where nothing is kept, around a cache."""


@dataclass(frozen=True, slots=True)
class CallPolicy:
    """How calls are made.

    Attributes:
        concurrency: the most calls under way at once; fewer while a server says "too many".
        attempts: tries for one call, the first included.
        timeout_s: seconds for one try.
        deadline_s: seconds for one call with all its tries and waits, from its first try on.
        backoff_s: wait before the second try; doubles, with jitter, up to `max_backoff_s`.
        max_backoff_s: longest wait of our own choosing.
        max_retry_after_s: longest wait that a server may ask for; beyond it the run stops.
        stop_after_failures: failed calls in a row that stop the run.
        requests_per_minute: None for no limit.
        tokens_per_minute: None for no limit; prompt and expected reply together.
        max_calls: tries in all, after which the run stops; None for no limit.
        max_cost_usd: what may be spent, after which the run stops; None for no limit.
        price: what the model costs; needed for `max_cost_usd`.

    Raises:
        UsageError: a limit that is not a finite number above 0 (0 calls or dollars are allowed,
            and ask for nothing), or a cost limit without a price.
    """

    concurrency: int = 8
    attempts: int = 4
    timeout_s: float = 60.0
    deadline_s: float = 120.0
    backoff_s: float = 0.5
    max_backoff_s: float = 8.0
    max_retry_after_s: float = 120.0
    stop_after_failures: int = 20
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    max_calls: int | None = None
    max_cost_usd: float | None = None
    price: Price | None = None

    def __post_init__(self) -> None:
        for name in ("concurrency", "attempts", "timeout_s", "deadline_s", "stop_after_failures",
                     "requests_per_minute", "tokens_per_minute"):  # fmt: skip
            value = getattr(self, name)
            optional = name.endswith("_per_minute")
            if not (optional and value is None) and not (_is_number(value) and value > 0):
                raise UsageError(f"{name} is {value!r}; it must be a finite number above 0")
        for name in ("max_calls", "max_cost_usd"):
            value = getattr(self, name)
            if value is not None and not (_is_number(value) and value >= 0):
                raise UsageError(f"{name} is {value!r}; it must be a finite number, 0 or more")
        if self.max_cost_usd is not None and self.price is None:
            raise UsageError(
                "a cost limit needs the model's price; give it under [prices] in relgate.toml"
            )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


@dataclass(slots=True)
class CallStats:
    """What has been spent so far; grows while calls are made.

    Attributes:
        calls: requests sent, retries included.
        failed_calls: requests that brought no reply.
        prompt_tokens: as the provider counted them; 0 where it did not say.
        completion_tokens: likewise.
        cost_usd: by the price; the most it may have been where the provider did not count. 0
            without a price.
        uncounted: replies whose tokens the provider did not count.
        unknown_ids: rows that named a candidate nobody asked about.
        models: model snapshots that really answered.
    """

    calls: int = 0
    failed_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0
    uncounted: int = 0
    unknown_ids: int = 0
    models: set[str] = field(default_factory=set[str])

    def since(self, before: CallStats) -> CallStats:
        """What has been spent since `before`."""
        spent = CallStats(models=set(self.models))
        for name in _COUNTS:
            setattr(spent, name, getattr(self, name) - getattr(before, name))
        return spent

    def add(self, more: CallStats) -> None:
        """Counts what another engine has spent as well."""
        for name in _COUNTS:
            setattr(self, name, getattr(self, name) + getattr(more, name))
        self.models |= more.models


_COUNTS = tuple(each.name for each in fields(CallStats) if each.name != "models")


class CallEngine:
    """Makes single calls through the user's `generate`.

    Args:
        generate: the way to the model, sync or async.
        policy: limits.
        jitter: returns a factor in [0, 1); replaced in tests.

    Attributes:
        stats: what has been spent.
        stopped: why no further call is made; None while calls are made.
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
        self._is_async = _is_async(generate)
        self._jitter = jitter
        self._failures_in_row = 0
        self._reserved_usd = 0.0
        self._places: tuple[asyncio.AbstractEventLoop, Places] | None = None
        self._pace = Pace(
            requests_per_minute=policy.requests_per_minute,
            tokens_per_minute=policy.tokens_per_minute,
            clock=time.monotonic,
        )

    async def call(self, request: GenerateRequest, rows: int = 1) -> GenerateReply:
        """One reply.

        Args:
            request: what to ask.
            rows: how many candidates are in it, for the budget.

        Raises:
            CallError: after the last try or at the deadline; at once, as `not-asked`, when the run
                has stopped.
        """
        places = self.places
        try:
            async with asyncio.timeout(None) as limit:
                return await self._tries(request, rows, places, limit)
        except TimeoutError:
            late = CallError(GradeError.TIMEOUT, f"no reply within {self.policy.deadline_s:g} s")
            self._failed(late)
            raise late from None

    @property
    def places(self) -> Places:
        """The limit on calls under way, one for each event loop that comes along."""
        loop = asyncio.get_running_loop()
        if self._places is None or self._places[0] is not loop:
            self._places = (loop, Places(self.policy.concurrency, time.monotonic))
        return self._places[1]

    async def _tries(
        self, request: GenerateRequest, rows: int, places: Places, limit: asyncio.Timeout
    ) -> GenerateReply:
        attempt = 0
        while True:
            attempt += 1
            await places.take(ahead=attempt > 1)
            try:
                if attempt == 1:  # the deadline runs from the first try: a queue is no delay of it
                    loop = asyncio.get_running_loop()
                    limit.reschedule(loop.time() + self.policy.deadline_s)
                reply = await self._once(request, rows)
            except CallError as error:
                if error.kind is GradeError.RATE_LIMITED:
                    places.slow_down()
                if not error.retry or error.fatal or attempt >= self.policy.attempts:
                    self._failed(error)
                    raise
                failure = error
            else:
                places.went_well()
                self._failures_in_row = 0
                return reply
            finally:
                places.give_back()
            await asyncio.sleep(self._wait_s(failure, attempt))

    def _wait_s(self, error: CallError, attempt: int) -> float:
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
        own = min(self.policy.backoff_s * 2.0 ** (attempt - 1), self.policy.max_backoff_s)
        return max(asked or 0.0, own * (0.75 + 0.25 * self._jitter()))

    async def _once(self, request: GenerateRequest, rows: int) -> GenerateReply:
        """One try: refused when the run has stopped, counted, timed, priced."""
        most_usd = self._book(request, rows)
        try:
            if self._pace.limits:
                await self._pace.wait(_expected(request, rows).most)
            self.stats.calls += 1
            try:
                async with asyncio.timeout(self.policy.timeout_s):
                    reply = _as_reply(await self._invoke(request))
            except CallError:
                self.stats.failed_calls += 1
                raise
            except (Exception, SystemExit) as error:
                # The user's own generate may raise anything, and grading never raises; one that
                # exits must not end the run with an exit code that means a verdict.
                self.stats.failed_calls += 1
                raise _call_error(error) from error
        finally:
            self._reserved_usd -= most_usd
        self._count(reply, most_usd)
        return reply

    def _book(self, request: GenerateRequest, rows: int) -> float:
        """Reserves the most that this try may cost; refuses it when that breaks the budget."""
        if self.stopped is not None:
            raise CallError(GradeError.NOT_ASKED, f"not asked: {self.stopped.message}")
        policy = self.policy
        if policy.max_calls is not None and self.stats.calls >= policy.max_calls:
            self._stop_at(f"the limit of {policy.max_calls} calls is reached")
        if policy.price is None:
            return 0.0
        prompt, reply = _prompt_tokens(request), reply_tokens(rows)
        most = cost_usd(policy.price, prompt_tokens=prompt.most, completion_tokens=reply.most)
        held = self.stats.cost_usd + self._reserved_usd
        if policy.max_cost_usd is not None and held + most > policy.max_cost_usd:
            self._stop_at(
                f"the next call may break the cost limit of {policy.max_cost_usd:g} USD "
                f"({held:.4f} USD spent or under way)"
            )
        self._reserved_usd += most
        return most

    def _stop_at(self, why: str) -> None:
        self.stopped = CallError(GradeError.NOT_ASKED, why + GO_ON, fatal=True)
        raise CallError(GradeError.NOT_ASKED, f"not asked: {self.stopped.message}")

    def _count(self, reply: GenerateReply, most_usd: float) -> None:
        stats, usage = self.stats, reply.usage
        stats.prompt_tokens += usage.prompt_tokens or 0
        stats.completion_tokens += usage.completion_tokens or 0
        counted = usage.prompt_tokens is not None and usage.completion_tokens is not None
        stats.uncounted += not counted
        if self.policy.price is not None:
            stats.cost_usd += (
                cost_usd(
                    self.policy.price,
                    prompt_tokens=usage.prompt_tokens or 0,
                    completion_tokens=usage.completion_tokens or 0,
                )
                if counted
                else most_usd
            )
        if reply.model:
            stats.models.add(reply.model)

    async def _invoke(self, request: GenerateRequest) -> Any:  # noqa: ANN401 - user's own value
        if self._is_async:
            return await self._generate(request)  # type: ignore[misc]
        result = await _in_daemon_thread(self._generate, request)
        return await result if inspect.isawaitable(result) else result

    def _failed(self, error: CallError) -> None:
        if error.kind is GradeError.NOT_ASKED:
            return
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


def _prompt_tokens(request: GenerateRequest) -> TokenRange:
    return token_range(request.system) + token_range(request.prompt)


def _expected(request: GenerateRequest, rows: int) -> TokenRange:
    return _prompt_tokens(request) + reply_tokens(rows)


def _call_error(error: Exception | SystemExit) -> CallError:
    """A failure of the user's own `generate`; trouble of the network or time may pass."""
    said = f"{type(error).__name__}: {error}"
    if isinstance(error, TimeoutError):
        return CallError(GradeError.TIMEOUT, said, retry=True)
    return CallError(GradeError.PROVIDER, said, retry=isinstance(error, OSError))


def _is_async(generate: object) -> bool:
    return inspect.iscoroutinefunction(generate) or inspect.iscoroutinefunction(
        getattr(generate, "__call__", None)  # noqa: B004 - an object's own async __call__
    )


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
