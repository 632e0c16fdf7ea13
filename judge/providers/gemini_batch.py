"""Google's Gemini Batch API over the google-genai SDK. I/O; importing it loads the SDK.

Requests go in a file, whatever their number: requests sent inline come back in their order alone,
and count against a limit of 20 MB.
"""

from __future__ import annotations

import json
from typing import Any, BinaryIO, Final, cast

from google.genai import types

from relgate.judge.providers.attempt import Attempts
from relgate.judge.providers.batches import BatchLimits, BatchLine, BatchState, RemoteBatch
from relgate.judge.providers.fields import count_of, fields_of, text_of
from relgate.judge.providers.gemini_client import GOOGLE, gemini_clients
from relgate.judge.providers.gemini_reply import failure_of
from relgate.judge.providers.replay import WireAnswer, WireCall
from relgate.judge.types import NO_USAGE, CallError, GradeError, Usage

__all__ = ["GeminiBatches"]

# 2 GB an input file, no number of requests stated (Gemini API documentation, "Batch API" and
# "Rate limits"); what is queued is limited by tokens, which the provider counts.
_LIMITS: Final = BatchLimits(requests=None, bytes=2_000_000_000)
_TRANSFER_S: Final = 3_600.0
_STATES: Final = {
    "JOB_STATE_RUNNING": BatchState.RUNNING,
    "JOB_STATE_CANCELLING": BatchState.RUNNING,
    "JOB_STATE_UPDATING": BatchState.RUNNING,
    "JOB_STATE_SUCCEEDED": BatchState.DONE,
    "JOB_STATE_PARTIALLY_SUCCEEDED": BatchState.DONE,
    "JOB_STATE_EXPIRED": BatchState.EXPIRED,
    "JOB_STATE_CANCELLED": BatchState.CANCELLED,
    "JOB_STATE_FAILED": BatchState.FAILED,
}
# A failed line holds a google.rpc.Status; these are the HTTP statuses of its codes.
_HTTP: Final = {1: 499, 3: 400, 4: 504, 5: 404, 7: 403, 8: 429, 9: 400, 10: 409, 14: 503, 16: 401}


class GeminiBatches:
    """See `Batches`, which it satisfies, and `batches_for`, which builds it."""

    limits = _LIMITS

    def __init__(self, *, api_key: str, base_url: str | None, timeout_s: float) -> None:
        url = base_url or GOOGLE
        self._clients = gemini_clients(
            api_key=api_key, base_url=url, api_version=None, timeout_s=timeout_s
        )
        self._attempts = Attempts(failure_of, base_url=url, key=api_key, timeout_s=timeout_s)

    def line(self, call: WireCall, /) -> bytes:
        """See `Batches.line`."""
        row = {"key": call.key, "request": json.loads(call.body)}
        return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"

    def key_of(self, line: bytes, /) -> str:
        """See `Batches.key_of`."""
        return str(json.loads(line)["key"])

    def read(self, line: bytes, /) -> BatchLine | None:
        """See `Batches.read`."""
        try:
            row = fields_of(json.loads(line))
        except ValueError:  # also what is no UTF-8
            return None
        key = text_of(row.get("key"))
        if key is None:
            return None
        response = fields_of(row.get("response"))
        if response:
            answer = WireAnswer(200, json.dumps(response).encode())
            return BatchLine(key, answer, _usage(response))
        error = fields_of(row.get("error", row.get("status")))
        return BatchLine(
            key, _failed(error), NO_USAGE, said=str(error.get("message", "no response"))
        )

    async def upload(self, file: BinaryIO, /, *, label: str) -> str:
        """See `Batches.upload`."""
        sdk = await self._sdk()
        config = types.UploadFileConfig(display_name=label, mime_type="jsonl")
        made = await self._attempts.make(
            lambda: sdk.files.upload(file=file, config=config), timeout_s=_TRANSFER_S
        )
        return _named(made.name)

    async def create(self, file_id: str, /, *, label: str, model: str) -> RemoteBatch:
        """See `Batches.create`."""
        sdk = await self._sdk()
        config = types.CreateBatchJobConfig(display_name=label)
        return await self._attempts.read(
            lambda: sdk.batches.create(model=model, src=file_id, config=config), _remote
        )

    async def find(self, label: str, /) -> RemoteBatch | None:
        """See `Batches.find`."""
        sdk = await self._sdk()

        async def look() -> types.BatchJob | None:
            async for job in await sdk.batches.list(config={"page_size": 100}):
                if job.display_name == label:
                    return cast("types.BatchJob", job)
            return None

        found = await self._attempts.make(look)
        return None if found is None else _remote(found)

    async def get(self, batch_id: str, /) -> RemoteBatch:
        """See `Batches.get`."""
        sdk = await self._sdk()
        return await self._attempts.read(lambda: sdk.batches.get(name=batch_id), _remote)

    async def cancel(self, batch_id: str, /) -> None:
        """See `Batches.cancel`."""
        sdk = await self._sdk()
        await self._attempts.make(lambda: sdk.batches.cancel(name=batch_id))

    async def download(self, file_id: str, into: BinaryIO, /) -> None:
        """See `Batches.download`."""
        sdk = await self._sdk()
        await self._attempts.make(
            lambda: sdk.files.download(file=file_id, destination=into), timeout_s=_TRANSFER_S
        )

    async def _sdk(self) -> Any:  # noqa: ANN401 - its own types are unknown in part
        return (await self._clients.get()).sdk.aio


def _named(name: str | None) -> str:
    if not name:
        raise CallError(GradeError.PROVIDER, "the provider gave a file no name", retry=True)
    return name


def _remote(job: types.BatchJob) -> RemoteBatch:
    word = "JOB_STATE_UNSPECIFIED" if job.state is None else str(job.state.value)
    state = _STATES.get(word, BatchState.WAITING)
    result = None if job.dest is None else job.dest.file_name
    # the SDK does not hand on why a job of this API failed
    message = None if job.error is None else job.error.message
    return RemoteBatch(
        id=_named(job.name),
        state=state,
        word=word,
        results=(result,) if state.ended and result else (),
        message=message,
    )


def _failed(status: dict[str, object]) -> WireAnswer | None:
    """The HTTP answer that a line's status stands for; None for one without a code."""
    code = count_of(status.get("code"))
    if code is None:
        return None
    http = code if code >= 100 else _HTTP.get(code, 500)  # noqa: PLR2004 - HTTP statuses
    error = {"code": http, "message": str(status.get("message", "")), "status": f"RPC {code}"}
    return WireAnswer(http, json.dumps({"error": error}).encode())


def _usage(response: dict[str, object]) -> Usage:
    """Tokens sent and back; thoughts are paid for with the answer."""
    usage = fields_of(response.get("usageMetadata"))
    back = [count_of(usage.get(f"{what}TokenCount")) for what in ("candidates", "thoughts")]
    known = [count for count in back if count is not None]
    return Usage(count_of(usage.get("promptTokenCount")), sum(known) if known else None)
