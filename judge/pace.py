"""How fast calls may go: places for calls under way, requests and tokens a minute. Pure asyncio.

Places shrink under pressure and grow back: a 429 takes a quarter of them away, at most once in a
while, and each round of successes gives one back (additive increase, multiplicative decrease).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

__all__ = ["Pace", "Places"]

_SHRINK = 0.75
_SHRINK_EVERY_S = 1.0


class Places:
    """A limit on calls under way that can move.

    Args:
        limit: the most that are ever under way at once.
        clock: monotonic seconds.
    """

    def __init__(self, limit: int, clock: Callable[[], float]) -> None:
        self.limit = limit
        self.most = limit
        self.least_seen = limit
        self._clock = clock
        self._taken = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._good = 0
        self._shrunk_at = float("-inf")

    async def take(self, *, ahead: bool = False) -> None:
        """Waits for a place; first come, first served.

        Args:
            ahead: go before those that wait already: a retry, whose deadline is running.
        """
        if self._taken < self.limit and not self._waiting:
            self._taken += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if ahead:
            self._waiting.appendleft(turn)
        else:
            self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.give_back()  # the place came in the same moment as the cancellation
            raise

    def give_back(self) -> None:
        """Frees a place and lets those waiting in."""
        self._taken -= 1
        self._admit()

    def _admit(self) -> None:
        while self._waiting and self._taken < self.limit:
            turn = self._waiting.popleft()
            if not turn.done():
                self._taken += 1
                turn.set_result(None)

    def slow_down(self) -> None:
        """A server said "too many": fewer places, at most once a second."""
        self._good = 0
        moment = self._clock()
        if moment - self._shrunk_at >= _SHRINK_EVERY_S:
            self._shrunk_at = moment
            self.limit = max(1, int(self.limit * _SHRINK))
            self.least_seen = min(self.least_seen, self.limit)

    def went_well(self) -> None:
        """A call succeeded; a full round of them gives one place back."""
        if self.limit == self.most:
            return
        self._good += 1
        if self._good >= self.limit:
            self._good = 0
            self.limit += 1
            self._admit()


class Pace:
    """Spaces calls evenly, so that neither requests nor tokens a minute are exceeded.

    Args:
        requests_per_minute: None for no limit.
        tokens_per_minute: None for no limit; counts what is sent and what is expected back.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        *,
        requests_per_minute: float | None,
        tokens_per_minute: float | None,
        clock: Callable[[], float],
    ) -> None:
        self._request_s = 60.0 / requests_per_minute if requests_per_minute else 0.0
        self._token_s = 60.0 / tokens_per_minute if tokens_per_minute else 0.0
        self._clock = clock
        self._next = float("-inf")

    @property
    def limits(self) -> bool:
        """Whether there is anything to wait for at all."""
        return bool(self._request_s or self._token_s)

    def book(self, tokens: int) -> float:
        """Books what a call takes; returns the seconds until its turn, 0 and up."""
        moment = self._clock()
        start = max(moment, self._next)
        self._next = start + max(self._request_s, tokens * self._token_s)
        return start - moment

    async def wait(self, tokens: int) -> None:
        """Waits for this call's turn and books what it takes."""
        left_s = self.book(tokens)
        if left_s > 0:
            await asyncio.sleep(left_s)
