"""The simulation of limits against the closed form, and against the engine of real calls."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from random import Random
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relgate.eval.scale import Limits, Simulated, floor_s, simulate
from relgate.judge import engine as engine_module
from relgate.judge.engine import CallEngine, CallPolicy
from relgate.judge.tokens import reply_tokens, token_range
from relgate.judge.types import GenerateReply, GenerateRequest
from relgate.rubrics.errors import UsageError

REQUEST = GenerateRequest(system="s" * 500, prompt="p" * 2_000, schema={})
ROWS = 10
TOKENS = (token_range(REQUEST.system) + token_range(REQUEST.prompt) + reply_tokens(ROWS)).most


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock jumps to the next thing that is due."""

    def __init__(self) -> None:
        super().__init__()
        self._now = 0.0

    def time(self) -> float:
        return self._now

    def _run_once(self) -> None:
        if not self._ready and self._scheduled:
            self._now = max(self._now, self._scheduled[0]._when)  # noqa: SLF001
        super()._run_once()


def run_calls(latencies_s: list[float], limits: Limits, clock: Callable[[], float]) -> float:
    """Seconds by `clock` that the engine of real calls takes, a worker a place."""
    pending = iter(latencies_s)
    policy = CallPolicy(
        concurrency=limits.concurrency,
        requests_per_minute=limits.requests_per_minute,
        tokens_per_minute=limits.tokens_per_minute,
        deadline_s=1e6,
        timeout_s=1e6,
    )

    async def all_of_them() -> float:
        owed: list[float] = []

        async def generate(_: GenerateRequest) -> GenerateReply:
            await asyncio.sleep(owed.pop())
            return GenerateReply(text="ok")

        engine = CallEngine(generate, policy)

        async def worker() -> None:
            for latency_s in pending:
                owed.append(latency_s)  # taken at once where nothing is waited for
                await engine.call(REQUEST, ROWS)

        begin = clock()
        async with asyncio.TaskGroup() as group:
            for _ in range(limits.concurrency):
                group.create_task(worker())
        return clock() - begin

    return asyncio.run(all_of_them())


def on_a_virtual_clock(
    latencies_s: list[float], limits: Limits, monkeypatch: pytest.MonkeyPatch
) -> float:
    loop = VirtualLoop()
    with monkeypatch.context() as patch:
        patch.setattr(engine_module, "time", SimpleNamespace(monotonic=loop.time))
        patch.setattr(asyncio.runners.events, "new_event_loop", lambda: loop)
        return run_calls(latencies_s, limits, loop.time)


LIMITS = st.builds(
    Limits,
    concurrency=st.integers(1, 12),
    requests_per_minute=st.none() | st.floats(10, 5_000),
    tokens_per_minute=st.none() | st.floats(1_000, 1e7),
)


@settings(max_examples=200, deadline=None)
@given(limits=LIMITS, calls=st.integers(1, 200), latency_s=st.floats(0.01, 5))
def test_calls_alike_take_the_floor_of_what_binds(limits, calls, latency_s) -> None:
    run = simulate([latency_s] * calls, [TOKENS], limits)
    floors = floor_s(calls, latency_s=latency_s, tokens=TOKENS, limits=limits)
    assert run.seconds >= max(floors.values()) * (1 - 1e-9)
    # Two limits may bind in turn, at the start and at the end: never by more than a latency.
    assert run.seconds <= max(floors.values()) + latency_s * (1 + 1e-9)
    assert run.calls == calls
    assert run.in_flight <= limits.concurrency * (1 + 1e-9)


def test_one_limit_alone_is_its_closed_form() -> None:
    spaced = simulate([2.0] * 100, [1], Limits(1_000, requests_per_minute=600))
    assert spaced.seconds == pytest.approx(99 * 0.1 + 2.0)
    booked = simulate([2.0] * 100, [500], Limits(1_000, tokens_per_minute=60_000))
    assert booked.seconds == pytest.approx(99 * 0.5 + 2.0)
    placed = simulate([2.0] * 100, [1], Limits(8))
    assert placed.seconds == pytest.approx(13 * 2.0)
    assert placed.in_flight == pytest.approx(100 * 2.0 / 26.0)


@pytest.mark.parametrize(
    "limits",
    [
        Limits(4),
        Limits(4, requests_per_minute=240),
        Limits(4, tokens_per_minute=TOKENS * 30),
        Limits(7, requests_per_minute=300, tokens_per_minute=TOKENS * 280),
    ],
)
def test_the_engine_of_real_calls_takes_what_the_simulation_says(limits, monkeypatch) -> None:
    latencies_s = [0.75] * 300
    engine_s = on_a_virtual_clock(latencies_s, limits, monkeypatch)
    assert engine_s == pytest.approx(simulate(latencies_s, [TOKENS], limits).seconds, rel=1e-6)


def test_a_simulation_without_the_limiter_would_be_seen(monkeypatch) -> None:
    """The planted fault: the engine heeds a limit that the simulation was not told of."""
    latencies_s = [0.75] * 100
    engine_s = on_a_virtual_clock(latencies_s, Limits(4, requests_per_minute=60), monkeypatch)
    assert engine_s > 1.5 * simulate(latencies_s, [TOKENS], Limits(4)).seconds


def test_a_real_run_is_never_faster_than_the_simulation() -> None:
    limits = Limits(8, requests_per_minute=12_000)
    latencies_s = [0.02] * 150
    simulated = simulate(latencies_s, [TOKENS], limits).seconds
    assert run_calls(latencies_s, limits, time.monotonic) >= simulated * 0.98


def test_scattered_replies_fill_the_places() -> None:
    draw = Random(1).lognormvariate  # noqa: S311 - no secret
    latencies_s = [draw(0.0, 0.5) for _ in range(5_000)]
    run = simulate(latencies_s, [1], Limits(50))
    # Graham 1969: places that never stand empty end within the longest of a perfect split.
    assert sum(latencies_s) / 50 <= run.seconds <= sum(latencies_s) / 50 + max(latencies_s)
    assert run.waiting == 0


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Limits(0), "concurrency is 0"),
        (lambda: Limits(1, requests_per_minute=0), "requests_per_minute is 0"),
        (lambda: Limits(1, tokens_per_minute=float("nan")), "tokens_per_minute is nan"),
        (lambda: simulate([], [1], Limits(1)), "no call"),
        (lambda: simulate([1.0], [], Limits(1)), "no tokens"),
    ],
)
def test_what_cannot_be_simulated_is_refused(make: Callable[[], Simulated], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        make()
