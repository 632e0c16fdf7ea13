"""What the google-genai SDK returned or raised, in the judge's terms. Pure but for the clock."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable, Mapping
from typing import Any, cast

from google.genai import errors, types

from relgate.judge.providers.failures import (
    common_failure,
    retry_after_s,
    status_failure,
)
from relgate.judge.redact import one_line
from relgate.judge.types import CallError, GenerateReply, GradeError, Usage

__all__ = ["failure_of", "reply_of"]

_FINISH = {"STOP": "stop", "MAX_TOKENS": "length"} | dict.fromkeys(
    (
        "SAFETY",
        "RECITATION",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "ESCALATION",
        "MODEL_ARMOR",
        "IMAGE_SAFETY",
        "IMAGE_PROHIBITED_CONTENT",
        "IMAGE_RECITATION",
    ),
    "blocked",
)
_UNKNOWN = "unknown"
_BAD_KEY = ("API_KEY_INVALID", "API key not valid", "API key expired")
_OWN_ERRORS = (
    errors.APIError,
    errors.UnknownFunctionCallArgumentError,
    errors.UnsupportedFunctionError,
    errors.FunctionInvocationError,
    errors.ContinuationInterruptedError,
)


def failure_of(error: Exception, *, base_url: str, secrets: Iterable[str] = ()) -> CallError | None:
    """The failure that an exception of the SDK, or of what lies below it, stands for.

    None when it is none of theirs.
    """
    if isinstance(error, errors.APIError) and isinstance(cast("Any", error).code, int):
        return _api_failure(error, secrets=secrets)
    if isinstance(error, errors.UnknownApiResponseError):
        said = one_line(str(error), secrets=secrets)
        return CallError(GradeError.PROVIDER, f"the reply is no valid JSON; {said}", retry=True)
    if isinstance(error, _OWN_ERRORS):
        said = one_line(f"{type(error).__name__}: {error}", secrets=secrets)
        return CallError(GradeError.PROVIDER, said)
    return common_failure(error, base_url=base_url, secrets=secrets)


def _api_failure(error: errors.APIError, *, secrets: Iterable[str]) -> CallError:
    body = json.dumps(_body(error), default=str)
    message = str(error.message or body)
    if error.code == 400 and any(word in body for word in _BAD_KEY):  # noqa: PLR2004 - HTTP
        # Gemini says 400 where others say 401
        return status_failure(401, message=message, code=error.status or "", secrets=secrets)
    # a daily quota shows in the details alone, under the status of any other rate limit
    spent = "PerDay" if "PerDay" in body else ""
    return status_failure(
        error.code,
        message=message,
        code=" ".join(filter(None, (error.status, spent))),
        wait_s=_wait_s(error),
        secrets=secrets,
    )


def _body(error: errors.APIError) -> object:
    return cast("Any", error).details


def _wait_s(error: errors.APIError) -> float | None:
    """What the server asked to wait, s: its header, else `retryDelay` in the body (`34s`)."""
    headers: Mapping[str, str] = getattr(cast("Any", error).response, "headers", None) or {}
    wait_s = retry_after_s({k.lower(): v for k, v in headers.items()}, now_s=time.time())
    if wait_s is not None:
        return wait_s
    for info in _error_details(_body(error)):
        delay = info.get("retryDelay")
        if isinstance(delay, str):
            return retry_after_s({"retry-after": delay.removesuffix("s")}, now_s=math.nan)
    return None


def _error_details(body: object) -> list[dict[str, object]]:
    for name in ("error", "details"):
        if isinstance(body, dict):
            body = cast("dict[str, object]", body).get(name)
    rows = cast("list[object]", body) if isinstance(body, list) else []
    return [cast("dict[str, object]", row) for row in rows if isinstance(row, dict)]


def reply_of(response: types.GenerateContentResponse) -> GenerateReply:
    """The judge's reply from a response; a blocked prompt has no candidates and no text.

    Raises:
        CallError: neither an answer nor a reason why there is none.
    """
    candidate = response.candidates[0] if response.candidates else None
    text, finish = _text(candidate), _finish(response, candidate)
    if text is None and finish == _UNKNOWN:
        said = "the endpoint sent neither an answer nor a reason why not; is its URL right?"
        raise CallError(GradeError.PROVIDER, said, retry=True)
    usage = response.usage_metadata
    counted = Usage(
        prompt_tokens=None if usage is None else usage.prompt_token_count,
        completion_tokens=None if usage is None else _output_tokens(usage),
    )
    return GenerateReply(
        text=text, finish_reason=finish, usage=counted, model=response.model_version
    )


def _output_tokens(usage: types.GenerateContentResponseUsageMetadata) -> int | None:
    """Answer and thoughts together: both are paid for and both count against the limit."""
    counts = (usage.candidates_token_count, usage.thoughts_token_count)
    known = [n for n in counts if n is not None]
    return sum(known) if known else None


def _text(candidate: types.Candidate | None) -> str | None:
    # response.text would do, but it writes a warning to the log for each thought signature
    content = None if candidate is None else candidate.content
    parts = (content.parts if content is not None else None) or []
    texts = [p.text for p in parts if p.text is not None and not p.thought]
    return "".join(texts) if texts else None


def _finish(response: types.GenerateContentResponse, candidate: types.Candidate | None) -> str:
    feedback = response.prompt_feedback
    if feedback is not None and feedback.block_reason is not None:
        return "blocked"
    if candidate is None or candidate.finish_reason is None:
        return _UNKNOWN
    word = str(candidate.finish_reason.value)
    return _FINISH.get(word, word.lower())
