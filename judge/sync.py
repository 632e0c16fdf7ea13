"""Running a coroutine for callers without an event loop."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, TypeVar

from relgate.rubrics.errors import UsageError

__all__ = ["run_sync"]

T = TypeVar("T")


def run_sync(coroutine: Coroutine[Any, Any, T], *, instead: str = "await judge.grade(...)") -> T:
    """The coroutine's result.

    Args:
        coroutine: what to run.
        instead: what a caller inside an event loop writes in its place.

    Raises:
        UsageError: called from inside an event loop, which would block it.
    """
    import asyncio  # noqa: PLC0415 - costs 80 ms, and an importer may never grade

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        kept: list[T] = []

        async def keep() -> None:
            kept.append(await coroutine)

        # The task may not hold the result: when asyncio puts the old SIGINT handler back, the task
        # is written out as text (in `signal`), and with it a result of a million rows.
        asyncio.run(keep())
        return kept[0]
    coroutine.close()
    raise UsageError(f"called from inside an event loop; use `{instead}` there")
