"""Running a coroutine for callers without an event loop."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, TypeVar

from relgate.rubrics.errors import UsageError

__all__ = ["run_sync"]

T = TypeVar("T")


def run_sync(coroutine: Coroutine[Any, Any, T]) -> T:
    """The coroutine's result.

    Raises:
        UsageError: called from inside an event loop, which would block it.
    """
    import asyncio  # noqa: PLC0415 - costs 80 ms, and an importer may never grade

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    coroutine.close()
    raise UsageError("called from inside an event loop; use `await judge.grade(...)` there")
