"""A blocking iterator, read from an event loop that may be interrupted at any moment."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable, Generator
from typing import TypeVar

__all__ = ["drawn"]

_T = TypeVar("_T")


async def drawn(items: Generator[_T], each: Callable[[_T], Awaitable[None]]) -> None:
    """Awaits `each` of `items`, one after the other.

    The iterator runs in a thread of its own, which fetches one item ahead and no more. A cancelled
    caller does not wait for it: the thread ends, and closes the iterator, with the item it is at.

    Raises:
        Exception: what the iterator or `each` raised.
    """
    loop = asyncio.get_running_loop()
    inbox: asyncio.Queue[tuple[_T] | Exception | None] = asyncio.Queue()
    room = threading.Semaphore(1)
    ended = threading.Event()

    def post(message: tuple[_T] | Exception | None) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody listens any more
            loop.call_soon_threadsafe(inbox.put_nowait, message)

    def draw() -> None:
        try:
            with contextlib.closing(items):
                for item in items:
                    room.acquire()
                    if ended.is_set():
                        return
                    post((item,))
        except Exception as error:  # noqa: BLE001 - raised on the awaiting side
            post(error)
        else:
            post(None)

    threading.Thread(target=draw, daemon=True, name="relgate-drawn").start()
    try:
        while (message := await inbox.get()) is not None:
            if isinstance(message, Exception):
                raise message
            await each(message[0])
            room.release()
    finally:
        ended.set()
        room.release()
