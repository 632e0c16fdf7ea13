"""OpenAI's Batch API over the openai SDK. I/O; importing it loads the SDK."""

from __future__ import annotations

import json
from typing import Any, BinaryIO, Final, Literal, cast

from openai.types import Batch

from relgate.judge.providers.attempt import Attempts
from relgate.judge.providers.batches import BatchLimits, BatchLine, BatchState, RemoteBatch
from relgate.judge.providers.fields import count_of, fields_of, text_of
from relgate.judge.providers.openai_client import OPENAI, openai_clients
from relgate.judge.providers.openai_reply import failure_of
from relgate.judge.providers.replay import WireAnswer, WireCall
from relgate.judge.types import NO_USAGE, Usage

__all__ = ["OpenAIBatches"]

# 50,000 requests and 200 MB a file (openai 3.57.0, `batches.create`); MB taken as the smaller one.
_LIMITS: Final = BatchLimits(requests=50_000, bytes=200_000_000)
_ENDPOINTS: Final = {"chat": "/v1/chat/completions", "responses": "/v1/responses"}
_TRANSFER_S: Final = 1_800.0
_LABEL: Final = "relgate"
_QUEUE_FULL: Final = "token_limit_exceeded"
_STATES: Final = {
    "validating": BatchState.WAITING,
    "in_progress": BatchState.RUNNING,
    "finalizing": BatchState.RUNNING,
    "cancelling": BatchState.RUNNING,
    "completed": BatchState.DONE,
    "expired": BatchState.EXPIRED,
    "cancelled": BatchState.CANCELLED,
    "failed": BatchState.FAILED,
}


class OpenAIBatches:
    """See `Batches`, which it satisfies, and `batches_for`, which builds it."""

    limits = _LIMITS

    def __init__(
        self,
        *,
        api_key: str,
        base_url: str | None,
        timeout_s: float,
        api: Literal["chat", "responses"],
    ) -> None:
        url = base_url or OPENAI
        self._endpoint = _ENDPOINTS[api]
        self._clients = openai_clients(api_key=api_key, base_url=url, timeout_s=timeout_s)
        self._attempts = Attempts(failure_of, base_url=url, key=api_key, timeout_s=timeout_s)

    def line(self, call: WireCall, /) -> bytes:
        """See `Batches.line`."""
        row = {"custom_id": call.key, "method": "POST", "url": self._endpoint}
        return _row(row | {"body": json.loads(call.body)})

    def key_of(self, line: bytes, /) -> str:
        """See `Batches.key_of`."""
        return str(json.loads(line)["custom_id"])

    def read(self, line: bytes, /) -> BatchLine | None:
        """See `Batches.read`."""
        try:
            row = fields_of(json.loads(line))
        except ValueError:  # also what is no UTF-8
            return None
        key = text_of(row.get("custom_id"))
        if key is None:
            return None
        response = fields_of(row.get("response"))
        status = count_of(response.get("status_code"))
        if status is None:
            return BatchLine(key, None, NO_USAGE, said=_said(fields_of(row.get("error"))))
        body = response.get("body")
        return BatchLine(key, WireAnswer(status, json.dumps(body).encode()), _usage(status, body))

    async def upload(self, file: BinaryIO, /, *, label: str) -> str:
        """See `Batches.upload`."""
        client = await self._clients.get()
        made = await self._attempts.make(
            lambda: client.files.create(
                file=(f"{label}.jsonl", file), purpose="batch", timeout=_TRANSFER_S
            ),
            timeout_s=_TRANSFER_S,
        )
        return made.id

    async def create(self, file_id: str, /, *, label: str, model: str) -> RemoteBatch:  # noqa: ARG002 - in each line
        """See `Batches.create`."""
        client = await self._clients.get()
        return await self._attempts.read(
            lambda: client.batches.create(
                input_file_id=file_id,
                endpoint=cast("Any", self._endpoint),
                completion_window="24h",
                metadata={_LABEL: label},
            ),
            _remote,
        )

    async def find(self, label: str, /) -> RemoteBatch | None:
        """See `Batches.find`."""
        client = await self._clients.get()

        async def look() -> Batch | None:
            async for batch in client.batches.list(limit=100):
                if (batch.metadata or {}).get(_LABEL) == label:
                    return batch
            return None

        found = await self._attempts.make(look)
        return None if found is None else _remote(found)

    async def get(self, batch_id: str, /) -> RemoteBatch:
        """See `Batches.get`."""
        client = await self._clients.get()
        return await self._attempts.read(lambda: client.batches.retrieve(batch_id), _remote)

    async def cancel(self, batch_id: str, /) -> None:
        """See `Batches.cancel`."""
        client = await self._clients.get()
        await self._attempts.make(lambda: client.batches.cancel(batch_id))

    async def download(self, file_id: str, into: BinaryIO, /) -> None:
        """See `Batches.download`."""
        client = await self._clients.get()

        async def load() -> None:
            async with client.files.with_streaming_response.content(file_id) as response:
                async for chunk in response.iter_bytes(1 << 20):
                    into.write(chunk)

        await self._attempts.make(load, timeout_s=_TRANSFER_S)


def _remote(batch: Batch) -> RemoteBatch:
    word = str(batch.status)
    state = _STATES.get(word, BatchState.RUNNING)
    problems = (batch.errors.data if batch.errors is not None else None) or []
    lines = [_problem(p.code, p.message, p.line) for p in problems[:3]]
    files = (batch.output_file_id, batch.error_file_id) if state.ended else ()
    counts = batch.request_counts
    return RemoteBatch(
        id=batch.id,
        state=state,
        word=word,
        results=tuple(name for name in files if name),
        message="; ".join(lines) or None,
        queue_full=bool(problems) and all(p.code == _QUEUE_FULL for p in problems),
        done=None if counts is None else counts.completed + counts.failed,
    )


def _problem(code: str | None, message: str | None, line: int | None) -> str:
    place = "" if line is None else f"line {line}: "
    return f"{place}{code or 'error'}: {message or 'no reason given'}"


def _row(row: object) -> bytes:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _said(error: dict[str, object]) -> str:
    words = [str(error[name]) for name in ("code", "message") if error.get(name)]
    return ": ".join(words) or "no response"


def _usage(status: int, body: object) -> Usage:
    """Tokens of either protocol; a request that failed is not paid for."""
    if status != 200:  # noqa: PLR2004 - HTTP
        return NO_USAGE
    usage = fields_of(fields_of(body).get("usage"))
    sent = count_of(usage.get("prompt_tokens", usage.get("input_tokens")))
    back = count_of(usage.get("completion_tokens", usage.get("output_tokens")))
    return Usage(sent, back)
