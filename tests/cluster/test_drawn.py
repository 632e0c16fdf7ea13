"""A blocking iterator read from an event loop."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from relgate.eval.cluster.drawn import drawn


def test_each_is_awaited_in_turn():
    seen: list[int] = []

    async def each(item):
        await asyncio.sleep(0)
        seen.append(item)

    asyncio.run(drawn((n for n in range(50)), each))
    assert seen == list(range(50))


def test_a_slow_reader_holds_the_iterator_back():
    fetched: list[int] = []
    ahead: list[int] = []

    def items():
        for n in range(20):
            fetched.append(n)
            yield n

    async def each(item):
        await asyncio.sleep(0.01)
        ahead.append(len(fetched) - item)

    asyncio.run(drawn(items(), each))
    assert max(ahead) <= 3  # the one at hand, the one on its way, the one being fetched


def test_what_the_iterator_raises_is_raised():
    def items():
        yield 1
        raise OSError("gone")

    async def each(_item):
        """Takes it."""

    with pytest.raises(OSError, match="gone"):
        asyncio.run(drawn(items(), each))


def test_what_the_reader_raises_is_raised_and_the_iterator_is_closed():
    closed = threading.Event()

    def items():
        try:
            yield from range(100)
        finally:
            closed.set()

    async def each(_item):
        raise ValueError("full")

    with pytest.raises(ValueError, match="full"):
        asyncio.run(drawn(items(), each))
    assert closed.wait(5)


def test_a_cancelled_reader_does_not_wait_for_the_iterator():
    release, closed = threading.Event(), threading.Event()

    def items():
        try:
            yield 1
            release.wait(30)
            yield 2
        finally:
            closed.set()

    seen: list[int] = []

    async def cancelled():
        first = asyncio.Event()

        async def each(item):
            seen.append(item)
            first.set()

        task = asyncio.create_task(drawn(items(), each))
        await first.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    begin = time.monotonic()
    asyncio.run(cancelled())
    assert time.monotonic() - begin < 10  # the iterator would take 30
    release.set()
    assert closed.wait(5)
    assert seen == [1]
