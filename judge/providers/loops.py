"""One client an event loop, closed with its loop; one TLS context for all. I/O."""

from __future__ import annotations

import asyncio
import functools
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import httpx2

__all__ = ["LoopLocal", "tls_context"]

C = TypeVar("C")


@functools.cache
def tls_context() -> ssl.SSLContext:
    """The machine's trust store, read once: it takes 30 ms, and each loop has a client anew."""
    return httpx2.create_ssl_context()


@dataclass(frozen=True, slots=True)
class _Held(Generic[C]):
    client: C
    guard: AsyncGenerator[None, None]


class LoopLocal(Generic[C]):
    """A client made anew in each event loop that asks for it.

    Pooled connections belong to the loop that opened them, and a judge that is called
    synchronously gets a new loop each time. The client is closed when its loop ends: a suspended
    asynchronous generator holds it, and `asyncio.run` closes such generators before the loop.

    Args:
        make: builds a client; called inside the loop.
        close: closes one, in the same loop.
    """

    def __init__(self, make: Callable[[], C], close: Callable[[C], Awaitable[None]]) -> None:
        self._make = make
        self._close = close
        self._held: dict[asyncio.AbstractEventLoop, _Held[C]] = {}

    async def get(self) -> C:
        """The running loop's client."""
        loop = asyncio.get_running_loop()
        for other in [other for other in list(self._held) if other.is_closed()]:
            self._held.pop(other, None)
        held = self._held.get(loop)
        if held is None:
            client = self._make()
            held = self._held[loop] = _Held(client, self._guard(loop, client))
            await anext(held.guard)  # started, so the loop knows it and closes it
        return held.client

    async def aclose(self) -> None:
        """Closes the running loop's client, if it has one; other loops close their own."""
        held = self._held.get(asyncio.get_running_loop())
        if held is not None:
            await held.guard.aclose()

    async def _guard(
        self, loop: asyncio.AbstractEventLoop, client: C
    ) -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            self._held.pop(loop, None)
            await self._close(client)
