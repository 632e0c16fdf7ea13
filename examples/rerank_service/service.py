# noqa: INP001 - a script beside its readme, no package
"""A small HTTP service that reranks search results with a judge, under a deadline.

POST /rerank takes a query and the first stage's hits and gives them back in a new order. When the
judge fails or the deadline passes, the first stage's order comes back, and the answer says so.
Grades are cached: the same text for the same query is paid for once, whoever asks.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import h11
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from relgate.eval.judges import open_judge
from relgate.eval.opened_judge import OpenedJudge
from relgate.eval.project import Project
from relgate.judge import Candidate, llm_rerank
from relgate.rubrics.errors import RelgateError

MAX_BODY_BYTES = 2_000_000
IDLE_S = 30.0  # a connection that says nothing for so long is closed
READ_BYTES = 65_536

Answer = tuple[int, dict[str, Any]]
Asked = tuple[h11.Request, bytes | None]


class Hit(BaseModel):
    """A document of the first stage: its id, and what the judge may see of it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    text: Annotated[str, Field(min_length=1)]


class Question(BaseModel):
    """The body of POST /rerank; hits best first."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    query: Annotated[str, Field(min_length=1)]
    hits: Annotated[tuple[Hit, ...], Field(max_length=1000)]
    deadline_s: Annotated[float, Field(gt=0)] | None = None


class Service:
    """Answers requests with one judge behind one cache.

    Args:
        opened: the judge.
        deadline_s: the longest that a request waits for it; a request may ask for less.
        pool: how many of the first hits are judged.
    """

    def __init__(self, opened: OpenedJudge, *, deadline_s: float, pool: int) -> None:
        self.opened = opened
        self.deadline_s = deadline_s
        self.pool = pool
        self.kept = 0
        self.stopping = False
        self.connections: dict[asyncio.Task[Any] | None, bool] = {}  # True while answering

    async def answer(self, request: h11.Request, body: bytes | None) -> Answer:
        """Status and JSON for one request; a body of None was too long."""
        match request.method, request.target:
            case b"GET", b"/health":
                return 200, self.health()
            case b"POST", b"/rerank" if body is None:
                return 413, {"error": f"a request may have {MAX_BODY_BYTES} bytes"}
            case b"POST", b"/rerank":
                try:
                    question = Question.model_validate_json(body or b"")
                except ValidationError as error:
                    first = error.errors(include_url=False, include_input=False)[0]
                    place = ".".join(str(part) for part in first["loc"])
                    return 422, {"error": f"{place}: {first['msg']}"}
                return 200, await self.rerank(question)
            case _:
                return 404, {"error": "there is POST /rerank and GET /health"}

    async def rerank(self, question: Question) -> dict[str, Any]:
        """The hits in their new order; why they are in the old one, where they are."""
        said: list[str] = []
        hits = await llm_rerank(
            self.opened.judge,
            question.query,
            [Candidate(hit.id, hit.text) for hit in question.hits],
            pool=self.pool,
            deadline_s=min(self.deadline_s, question.deadline_s or self.deadline_s),
            on_error=said.append,
        )
        graded = sum(hit.score is not None for hit in hits)
        self.kept += not graded
        return {
            "hits": [asdict(hit) for hit in hits],
            "graded": graded,
            "first_stage_order": None if graded else next(iter(said), "the judge gave no grade"),
            "judge_version": self.opened.judge.version,
            "judge_fingerprint": self.opened.judge.fingerprint,
        }

    def health(self) -> dict[str, Any]:
        """What the judge and the cache did so far."""
        cached, calls = self.opened.cached, self.opened.calls
        return {
            "judge_version": self.opened.judge.version,
            "judge_fingerprint": self.opened.judge.fingerprint,
            "calls": calls,
            "cached": None if cached is None else cached.hits,
            "stored": None if cached is None else cached.stored,
            "first_stage_order_kept": self.kept,
            "remarks": list(self.opened.remarks),
        }

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serves one connection until either side closes it."""
        http, task = h11.Connection(h11.SERVER), asyncio.current_task()
        self.connections[task] = False
        try:
            async for request, body in requests_of(http, reader):
                self.connections[task] = True
                status, document = await self.answer(request, body)
                await send(http, writer, status, document)
                self.connections[task] = False
                if self.stopping:
                    break
        except h11.RemoteProtocolError as error:
            with suppress(h11.LocalProtocolError, OSError):
                await send(http, writer, error.error_status_hint, {"error": str(error)})
        except (TimeoutError, OSError):
            pass  # the client is gone, or says nothing: nobody to answer
        except asyncio.CancelledError:
            if not self.stopping:
                raise
        finally:
            del self.connections[task]
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def stop(self) -> None:
        """Ends idle connections; those that wait for an answer get it first."""
        self.stopping = True
        for task, busy in self.connections.items():
            if task is not None and not busy:
                task.cancel()
        await asyncio.gather(*filter(None, self.connections), return_exceptions=True)


async def requests_of(http: h11.Connection, reader: asyncio.StreamReader) -> AsyncIterator[Asked]:
    """The requests of a connection, each with its body, or None for one that is too long."""
    request: h11.Request | None = None
    body = bytearray()
    while True:
        event = http.next_event()
        match event:
            case h11.NEED_DATA:
                if http.they_are_waiting_for_100_continue:
                    raise h11.RemoteProtocolError("no 100-continue here", error_status_hint=417)
                async with asyncio.timeout(IDLE_S):
                    http.receive_data(await reader.read(READ_BYTES))
            case h11.Request():
                request, body = event, bytearray()
            case h11.Data(data=data) if len(body) <= MAX_BODY_BYTES:
                body += data
            case h11.EndOfMessage() if request is not None:
                yield request, bytes(body) if len(body) <= MAX_BODY_BYTES else None
                if http.our_state is not h11.DONE:
                    return
                http.start_next_cycle()
            case h11.ConnectionClosed() | h11.PAUSED:
                return
            case _:
                pass  # more of a body that is already too long


async def send(
    http: h11.Connection, writer: asyncio.StreamWriter, status: int, document: dict[str, Any]
) -> None:
    """One JSON response."""
    body = json.dumps(document, ensure_ascii=True, allow_nan=False).encode()
    head = h11.Response(
        status_code=status,
        headers=[("content-type", "application/json"), ("content-length", str(len(body)))],
    )
    for event in (head, h11.Data(data=body), h11.EndOfMessage()):
        writer.write(http.send(event) or b"")
    await writer.drain()


def opened_judge(options: argparse.Namespace) -> OpenedJudge:
    """The judge behind its cache, as `relgate` opens it."""
    project = Project(
        cache=options.cache,
        judge_family=options.judge_family,
        batch_size=options.batch_size,
        timeout_s=options.deadline,
    )
    opened = open_judge(options.judge, project)
    if opened.llm is not None:
        # A batch job stops after 20 failed calls in a row. A service goes on: the judge comes back.
        engine = opened.llm.engine
        engine.policy = replace(engine.policy, stop_after_failures=sys.maxsize)
    return opened


async def serve(options: argparse.Namespace) -> None:
    """Serves until SIGINT or SIGTERM, then gives back the cache."""
    opened = opened_judge(options)
    try:
        service = Service(opened, deadline_s=options.deadline, pool=options.pool)
        server = await asyncio.start_server(service.connected, options.host, options.port)
        stop = asyncio.Event()
        for name in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(name, stop.set)
        host, port = server.sockets[0].getsockname()[:2]
        sys.stdout.write(f"listening on http://{host}:{port}, judge {opened.judge.version}\n")
        sys.stdout.flush()
        await stop.wait()
        server.close()
        await service.stop()
    finally:
        opened.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """Parses the command line and serves. Returns the exit code."""
    parser = argparse.ArgumentParser(description="Reranks search results with a judge.")
    parser.add_argument("--judge", required=True, help="compatible:MODEL@URL, openai:MODEL, ...")
    parser.add_argument("--judge-family", help="where the model's name does not tell")
    parser.add_argument("--cache", type=Path, default=Path(".relgate/cache"))
    parser.add_argument("--batch-size", type=int, default=10, help="hits a call; 10")
    parser.add_argument("--pool", type=int, default=50, help="hits judged; 50")
    parser.add_argument("--deadline", type=float, default=2.0, help="seconds a request; 2")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8080, help="0 takes a free one")
    try:
        asyncio.run(serve(parser.parse_args(arguments)))
    except (RelgateError, ValidationError, OSError) as error:
        sys.stderr.write(f"rerank service: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
