"""Calls to a provider: limited in time, failures ours, the key masked. Pure but for the call."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeVar

from relgate.judge.redact import one_line
from relgate.judge.types import CallError, GradeError

__all__ = ["Attempts", "FailureOf"]

A = TypeVar("A")
R = TypeVar("R")


class FailureOf(Protocol):
    """What an exception of an SDK means; None when it is not one of the provider's."""

    def __call__(
        self, error: Exception, /, *, base_url: str, secrets: Sequence[str]
    ) -> CallError | None:
        """The failure, its words without `secrets`."""
        ...


class Attempts:
    """Calls to one endpoint.

    Args:
        failure_of: what an exception means.
        base_url: the endpoint, for messages.
        key: the API key, to mask.
        timeout_s: the limit of one call, seconds, from its start to the last byte.
    """

    def __init__(self, failure_of: FailureOf, *, base_url: str, key: str, timeout_s: float) -> None:
        self._failure_of = failure_of
        self._base_url = base_url
        self._key = key
        self._timeout_s = timeout_s

    async def make(self, call: Callable[[], Awaitable[R]], *, timeout_s: float | None = None) -> R:
        """What `call` returns.

        Args:
            call: makes the request.
            timeout_s: another limit for this one.

        Raises:
            CallError: every failure of the SDK, of the connection, or of the endpoint.
        """
        secrets = (self._key,)
        try:
            async with asyncio.timeout(timeout_s or self._timeout_s):
                return await call()
        except CallError as error:
            failure = error
        except Exception as error:  # noqa: BLE001 - whatever the SDK raises, the call failed
            said = one_line(f"{type(error).__name__}: {error}", secrets=secrets)
            known = self._failure_of(error, base_url=self._base_url, secrets=secrets)
            failure = known or CallError(GradeError.PROVIDER, said)
        # Raised outside of any handler: the SDK's own exception, which may hold the key in its
        # text or its request, must not hang on it as context.
        raise failure

    async def read(self, call: Callable[[], Awaitable[A]], read: Callable[[A], R]) -> R:
        """What `read` makes of what `call` returns: the SDK hands on whatever came, a page as well.

        Raises:
            CallError: as `make`, and also when `read` fails.
        """

        async def both() -> R:
            return read(await call())

        return await self.make(both)
