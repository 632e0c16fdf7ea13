"""One call to a provider, its failure returned and not raised. Pure but for the call."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from relgate.judge.redact import one_line
from relgate.judge.types import CallError, GradeError

__all__ = ["attempt"]

R = TypeVar("R")


async def attempt(
    call: Callable[[], Awaitable[R]],
    *,
    timeout_s: float,
    failure_of: Callable[[Exception], CallError | None],
    key: str,
) -> R | CallError:
    """What `call` returns, or its failure.

    The failure is returned so that the caller raises it outside of any handler: the SDK's own
    exception, which may hold the key in its text or its request, must not hang on it as context.

    Args:
        call: makes the request.
        timeout_s: its limit, seconds, from its start to the last byte.
        failure_of: what an exception means; None when it is not one of the provider's.
        key: the API key, to mask.
    """
    try:
        async with asyncio.timeout(timeout_s):
            return await call()
    except CallError as failure:
        return failure
    except Exception as error:  # noqa: BLE001 - whatever the SDK raises, the call failed
        said = one_line(f"{type(error).__name__}: {error}", secrets=(key,))
        return failure_of(error) or CallError(GradeError.PROVIDER, said)
