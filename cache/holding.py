"""The claims that a call of a cached judge holds: taken, renewed under way, given back. I/O.

Whatever ends the call (an answer, a failure, a cancellation) gives its claims back. If the process
dies, they expire.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable
from typing import Final, ParamSpec, Self, TypeVar

from relgate.cache.base import Store
from relgate.cache.claims import new_owner
from relgate.rubrics.errors import CacheUnavailableError

__all__ = ["Holding", "finished"]

_FIRST_WAIT_S: Final = 0.02
_LONGEST_WAIT_S: Final = 0.5
_RENEWALS: Final = 3  # in the life of a claim

_P = ParamSpec("_P")
_T = TypeVar("_T")


async def finished(work: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """The result of `work` in a thread, finished also when the caller is cancelled.

    For writes, some milliseconds: what was paid for is stored before the run ends.
    """
    task = asyncio.create_task(asyncio.to_thread(work, *args, **kwargs))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.gather(task, return_exceptions=True)
        raise


class Holding:
    """Claims of one owner in a store, from `async with` to its end.

    Args:
        store: where the claims are.
        seconds: how long a claim stands unless it is renewed.
        tell: told when claims cannot be kept; grading then goes on without, unless it raises.
    """

    def __init__(
        self, store: Store, *, seconds: float, tell: Callable[[CacheUnavailableError], None]
    ) -> None:
        self.owner = new_owner()
        self._store = store
        self._seconds = seconds
        self._tell = tell
        self._held: set[str] = set()
        self._turn = asyncio.Lock()  # a renewal may not revive a claim that is just ending
        self._wait_s = _FIRST_WAIT_S
        self._renewal: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._renewal = asyncio.create_task(self._renew())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._renewal is not None:
            self._renewal.cancel()
            await asyncio.gather(self._renewal, return_exceptions=True)
        await self.give_back(set(self._held))

    async def take(self, keys: Iterable[str]) -> set[str]:
        """Claim `keys`; those that are now ours, all of them where claims cannot be kept."""
        wanted = set(keys)
        async with self._turn:
            try:
                # before the thread starts: a cancelled call gives back what it may have got
                self._held |= wanted
                mine = await finished(
                    self._store.claim_many, wanted, owner=self.owner, seconds=self._seconds
                )
            except CacheUnavailableError as error:
                self._held -= wanted
                self._tell(error)
                return wanted
            self._held -= wanted - mine
        if mine:
            self._wait_s = _FIRST_WAIT_S
        return mine

    async def give_back(self, keys: Iterable[str]) -> None:
        """End our claims on `keys`, where we have any."""
        ending = self._held & set(keys)
        if ending:
            await self.end(ending, self._release, ending)

    def _release(self, keys: set[str]) -> bool:
        with contextlib.suppress(CacheUnavailableError):  # then they expire
            self._store.release_many(keys, owner=self.owner)
        return True

    async def end(
        self, keys: Iterable[str], work: Callable[_P, bool], *args: _P.args, **kwargs: _P.kwargs
    ) -> None:
        """Do `work`, which ends our claims on `keys` if it returns True; none is renewed then."""
        async with self._turn:
            if await finished(work, *args, **kwargs):
                self._held -= set(keys)

    async def wait(self) -> None:
        """Sleep a little, longer each time in a row, while others pay."""
        await asyncio.sleep(self._wait_s)
        self._wait_s = min(2 * self._wait_s, _LONGEST_WAIT_S)

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(self._seconds / _RENEWALS)
            async with self._turn:
                if self._held:
                    with contextlib.suppress(CacheUnavailableError):  # the next one may work
                        await finished(
                            self._store.claim_many,
                            set(self._held),
                            owner=self.owner,
                            seconds=self._seconds,
                        )
