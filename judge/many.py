"""Many queries to one judge, under way at once. Calls the judge."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from relgate.judge.types import Ask, BulkJudge, Judge, Took

__all__ = ["QUERIES_AT_ONCE", "grade_many"]

QUERIES_AT_ONCE = 32
"""Queries under way at once, for a judge of no more calls at once than that."""


async def grade_many(
    judge: Judge, asks: Iterable[Ask], took: Took, *, at_once: int = QUERIES_AT_ONCE
) -> None:
    """Grades every ask, and tells each once, in whatever order they are done.

    Args:
        judge: any judge; one that takes many queries at once gets them all.
        asks: what to grade; taken as it is wanted, so that it need not be in memory.
        took: told of each answer.
        at_once: queries under way, of a judge that takes one at a time.

    Raises:
        RelgateError: what the judge itself raises; the first, the rest is cut short by it.
    """
    if isinstance(judge, BulkJudge):
        await judge.grade_many(asks, took)
        return
    pending = iter(enumerate(asks))

    async def worker() -> None:
        for number, ask in pending:
            await took([(number, await judge.grade(ask.query, ask.candidates))])

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(at_once):
                group.create_task(worker())
    except ExceptionGroup as raised:  # the first is the cause; the rest were cut short by it
        raise raised.exceptions[0] from None
