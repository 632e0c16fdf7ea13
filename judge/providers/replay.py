"""Requests put off for a batch, and their answers given back: what stands in for the wire.

The adapters stay as they are. The SDK builds the very body that it would send, and reads the very
body that came back; only the transport below it is another. Importing this loads no SDK.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from relgate.judge.types import CallError, GenerateReply, GenerateRequest, GradeError

if TYPE_CHECKING:
    import httpx2

__all__ = [
    "RequestBook",
    "UnansweredError",
    "Wire",
    "WireAnswer",
    "WireCall",
    "replayed",
    "transport",
]


@dataclass(frozen=True, slots=True)
class WireCall:
    """One HTTP request, as the SDK built it.

    Attributes:
        path: of its address.
        body: what it sends.
    """

    path: str
    body: bytes

    @property
    def key(self) -> str:
        """32 hex digits that name the request: the same for the same content, in any process."""
        return hashlib.sha256(self.path.encode() + b"\n" + self.body).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class WireAnswer:
    """The HTTP response to a request.

    Attributes:
        status: its HTTP status.
        body: JSON.
    """

    status: int
    body: bytes


class UnansweredError(CallError):
    """There is no answer yet; carries the request.

    Args:
        call: the request.
    """

    def __init__(self, call: WireCall) -> None:
        super().__init__(GradeError.NOT_ASKED, "no answer yet")
        self.call = call


Wire = Callable[[WireCall], WireAnswer]
"""Answers a request; raises `UnansweredError`, or another `CallError` for one that failed."""


Adapter = Callable[[GenerateRequest], Awaitable[GenerateReply]]
"""A `generate` over an SDK."""


class RequestBook(Protocol):
    """Keeps what was asked and what was answered."""

    def answer(self, call: WireCall, /) -> WireAnswer:
        """The answer to `call`; raises as `Wire` does."""
        ...

    def want(self, call: WireCall, request: GenerateRequest, /) -> str:
        """Notes that `call` has no answer; says, for people, what becomes of it."""
        ...


def transport(wire: Wire) -> httpx2.AsyncBaseTransport:
    """A transport for an SDK's HTTP client that asks `wire` in place of the network."""
    import httpx2  # noqa: PLC0415 - heavy, and most judges call live

    class Replay(httpx2.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            answer = wire(WireCall(request.url.path, await request.aread()))
            headers = {"content-type": "application/json"}
            return httpx2.Response(answer.status, headers=headers, content=answer.body)

    return Replay()


def replayed(generate: Adapter, book: RequestBook) -> Adapter:
    """`generate`, which asks `book` through its transport, as a `generate` of its own.

    What has no answer is noted in the book and fails as `not-asked`. No failure is tried again or
    ends the run: it is read from a file, and what is paid for is read to its end.
    """
    return _Replayed(generate, book)


class _Replayed:
    def __init__(self, generate: Adapter, book: RequestBook) -> None:
        self._generate = generate
        self._book = book

    @property
    def mode(self) -> str:
        """How the reply's form is asked for, as in the adapters."""
        return str(getattr(self._generate, "mode", "json_schema"))

    async def __call__(self, request: GenerateRequest, /) -> GenerateReply:
        try:
            reply = await self._generate(request)
        except UnansweredError as unanswered:
            failure = CallError(GradeError.NOT_ASKED, self._book.want(unanswered.call, request))
        except CallError as error:
            failure = CallError(error.kind, error.message)
        else:
            return reply
        raise failure
