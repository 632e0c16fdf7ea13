"""How long calls to a judge take under limits: the floor in closed form, and a simulation. Pure.

The simulation has a clock of its own and the limiter that real calls wait for (`judge.pace.Pace`),
so it books what a run would book. It leaves out refusals, retries and the client's own work.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import heapify, heapreplace
from math import isfinite

from relgate.judge.pace import Pace
from relgate.rubrics.errors import UsageError

__all__ = ["Limits", "Simulated", "floor_s", "simulate"]


@dataclass(frozen=True, slots=True)
class Limits:
    """What calls are held to.

    Attributes:
        concurrency: calls under way at once, 1 and up.
        requests_per_minute: None for no limit.
        tokens_per_minute: None for no limit; prompt and expected reply together.

    Raises:
        UsageError: a limit that is not a finite number above 0.
    """

    concurrency: int
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None

    def __post_init__(self) -> None:
        if self.concurrency < 1:
            raise UsageError(f"concurrency is {self.concurrency}; it must be 1 or more")
        for name in ("requests_per_minute", "tokens_per_minute"):
            value = getattr(self, name)
            if value is not None and not (isfinite(value) and value > 0):
                raise UsageError(f"{name} is {value!r}; it must be a finite number above 0")


@dataclass(frozen=True, slots=True)
class Simulated:
    """A run as it would go.

    Attributes:
        calls: how many were made.
        seconds: from the first call's start to the last reply.
        in_flight: calls that were being answered at one time, on average.
        waiting: places that were held by calls waiting for their turn, on average.
    """

    calls: int
    seconds: float
    in_flight: float
    waiting: float


def floor_s(calls: int, *, latency_s: float, tokens: int, limits: Limits) -> dict[str, float]:
    """The least seconds that each limit leaves to `calls` alike, by the limit's name.

    Starts are spaced, so n calls take n - 1 steps and one latency; places hold a latency each.

    Args:
        calls: how many, 1 and up.
        latency_s: how long a reply takes, above 0.
        tokens: what each books: prompt and the most that may come back.
        limits: what they are held to.
    """
    rounds = -(-calls // limits.concurrency)
    found = {"concurrency": rounds * latency_s}
    if limits.requests_per_minute is not None:
        found["requests_per_minute"] = (calls - 1) * 60 / limits.requests_per_minute + latency_s
    if limits.tokens_per_minute is not None:
        spaced = (calls - 1) * tokens * 60 / limits.tokens_per_minute
        found["tokens_per_minute"] = spaced + latency_s
    return found


class _Clock:
    """Seconds, set by the simulation."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def simulate(latencies_s: Iterable[float], tokens: Sequence[int], limits: Limits) -> Simulated:
    """A run of calls in the order given, each as soon as a place and its turn are there.

    Args:
        latencies_s: how long each reply takes, 0 and up.
        tokens: what calls book, taken over and over.
        limits: what they are held to.

    Raises:
        UsageError: no call, or no tokens.
    """
    if not tokens:
        raise UsageError("no tokens to book; give at least one number")
    clock = _Clock()
    pace = Pace(
        requests_per_minute=limits.requests_per_minute,
        tokens_per_minute=limits.tokens_per_minute,
        clock=clock,
    )
    free = [0.0] * limits.concurrency  # when each place is free, a heap
    heapify(free)
    end = answered = waited = 0.0
    calls = 0
    for calls, latency_s in enumerate(latencies_s, start=1):
        clock.now = free[0]
        turn = pace.book(tokens[(calls - 1) % len(tokens)])
        done = clock.now + turn + latency_s
        heapreplace(free, done)
        answered += latency_s
        waited += turn
        end = max(end, done)
    if not calls:
        raise UsageError("no call to simulate")
    whole = end or 1.0  # replies that take no time: nothing was ever in flight
    return Simulated(calls, end, answered / whole, waited / whole)
